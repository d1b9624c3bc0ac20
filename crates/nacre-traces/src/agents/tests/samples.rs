//! Small traces for the tests that cover all adapters, from agents whose formats share parsing
//! code.

pub(super) const GEMINI: &str = r#"{"sessionId":"s1","projectHash":"h","startTime":"2026-11-16T14:53:18.000Z","kind":"main"}
{"$set":{"messages":[{"id":"m0","type":"user","content":[{"text":"<session_context>\n  - /p\n</session_context>"}]}]}}
{"id":"m1","timestamp":"2026-11-16T14:53:19.000Z","type":"user","content":[{"text":"<hook_context><nacre-memory>\nUse spaces\n</nacre-memory></hook_context>\n\nUse tabs"},{"text":"file"}]}
{"id":"m2","timestamp":"2026-11-16T14:53:20.000Z","type":"gemini","content":"","thoughts":[{"subject":"a","description":"b"}],"tokens":{"input":10,"output":5,"total":15},"model":"m"}
{"id":"m2","timestamp":"2026-11-16T14:53:20.000Z","type":"gemini","content":"ok \ud83d\ude00","toolCalls":[{"id":"c1","name":"nacre_search","args":{"a":[1]},"result":[{"functionResponse":{"id":"c1","response":{"output":"<nacre-brief>"}}}],"status":"success"}],"model":"m"}
{"id":"m3","type":"user","content":[{"functionResponse":{"id":"c1","response":{"output":"x"}}}]}
{"$rewindTo":"m2"}
{"id":"m4","type":"error","content":"quota"}
"#;

pub(super) const QWEN: &str = r#"{"uuid":"u1","parentUuid":null,"sessionId":"s1","timestamp":"2026-08-17T12:00:00.000Z","type":"user","cwd":"/p","version":"1","gitBranch":"main","message":{"role":"user","parts":[{"text":"Use tabs"},{"text":"<nacre-memory>\nUse spaces\n</nacre-memory>"}]}}
{"uuid":"u2","parentUuid":"u1","sessionId":"s1","timestamp":"2026-08-17T12:00:01.000Z","type":"assistant","model":"m","usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5},"message":{"role":"model","parts":[{"text":"hm","thought":true},{"text":"ok \ud83d\ude00"},{"functionCall":{"id":"c1","name":"run_shell_command","args":{"command":"nacre memory list"}}}]}}
{"uuid":"u3","parentUuid":"u2","sessionId":"s1","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"c1","response":{"output":"x"}}}]},"toolCallResult":{"status":"error"}}
{"uuid":"u4","parentUuid":"u1","sessionId":"s1","type":"system","subtype":"rewind","systemPayload":{}}
{"uuid":"u5","parentUuid":"u4","sessionId":"s1","type":"user","message":{"role":"user","parts":[{"text":"Again"}]}}
{"uuid":"u6","parentUuid":"u5","sessionId":"s1","type":"system","subtype":"custom_title","systemPayload":{"customTitle":"Tabs"}}
"#;

pub(super) const COPILOT: &str = r#"{"type":"session.start","data":{"sessionId":"s1","copilotVersion":"1","context":{"cwd":"/p","branch":"main"}},"id":"e1","timestamp":"2026-06-23T05:17:20.000Z"}
{"type":"user.message","data":{"content":"Use tabs","transformedContent":"<nacre-memory>\nUse spaces\n</nacre-memory>\n\nUse tabs"},"id":"e2","timestamp":"2026-06-23T05:17:21.000Z"}
{"type":"assistant.message","data":{"content":"ok \ud83d\ude00","reasoningText":"hm","outputTokens":3,"toolRequests":[{"toolCallId":"c1","name":"bash","arguments":{"command":"nacre memory list"}}]},"id":"e3","timestamp":"2026-06-23T05:17:22.000Z"}
{"type":"tool.execution_start","data":{"toolCallId":"c1","toolName":"bash","arguments":{}},"id":"e4"}
{"type":"tool.execution_complete","data":{"toolCallId":"c1","success":false,"result":{"content":"x"}},"id":"e5"}
{"type":"session.compaction_complete","data":{"summaryContent":"short"},"id":"e6"}
{"type":"session.shutdown","data":{"modelMetrics":{"m":{"usage":{"inputTokens":9,"outputTokens":4}}}},"id":"e7"}
"#;

pub(super) const PI: &str = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-11-16T14:53:27.946Z","cwd":"/p","parentSession":"/h/x_s0.jsonl"}
{"type":"message","id":"a","parentId":null,"timestamp":"2026-11-16T14:53:27.000Z","message":{"role":"user","content":"old"}}
{"type":"custom_message","id":"n","parentId":"a","timestamp":"2026-11-16T14:53:28.000Z","customType":"nacre","content":"<nacre-memory>\nUse spaces\n</nacre-memory>"}
{"type":"message","id":"b","parentId":"a","timestamp":"2026-11-16T14:53:28.000Z","message":{"role":"user","content":[{"type":"text","text":"Use tabs"}]}}
{"type":"message","id":"c","parentId":"b","timestamp":"2026-11-16T14:53:29.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"ok \ud83d\ude00"},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"nacre memory list"}}],"model":"m","usage":{"input":1,"output":2}}}
{"type":"message","id":"d","parentId":"c","timestamp":"2026-11-16T14:53:30.000Z","message":{"role":"toolResult","toolCallId":"c1","content":[{"type":"text","text":"x"}],"isError":true}}
{"type":"message","id":"e","parentId":"b","timestamp":"2026-11-16T14:53:31.000Z","message":{"role":"user","content":"Again"}}
{"type":"compaction","id":"f","parentId":"e","summary":"short"}
"#;

pub(super) const DROID: &str = r#"{"type":"session_start","id":"s1","title":"Tabs","cwd":"/p"}
{"type":"message","id":"a","timestamp":"2026-11-16T14:53:28.000Z","message":{"role":"user","content":[{"type":"text","text":"<nacre-memory>\nUse spaces\n</nacre-memory>"},{"type":"text","text":"Use tabs"}]}}
{"type":"message","id":"b","parentId":"a","timestamp":"2026-11-16T14:53:29.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"ok \ud83d\ude00"},{"type":"tool_use","id":"c1","name":"Execute","input":{"command":"nacre memory list"}}]}}
{"type":"message","id":"c","parentId":"b","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":"x"}]}}
{"type":"message","id":"d","parentId":"a","message":{"role":"user","content":"Again"}}
{"type":"agent_turn_outcome","reason":"completed"}
"#;

pub(super) const CLINE: &str = r#"{"sessionId":"s1","origin":{"version":"3"},"messages":[{"id":"a","role":"user","ts":1794840847005,"content":[{"type":"text","text":"<user_input mode=\"act\"><nacre-memory>\nUse spaces\n</nacre-memory>\nUse tabs</user_input>"}]},{"id":"b","role":"assistant","content":[{"type":"text","text":"ok \ud83d\ude00"},{"type":"tool_use","id":"c1","name":"run_commands","input":{"commands":["nacre memory list"]}}]},{"id":"c","role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"query":"q","result":"x","success":false}]},{"type":"text","text":"[read_file for 'a'] Result:\n<feedback>no</feedback>"}]}]}"#;

pub(super) const CONTINUE: &str = r#"{"sessionId":"s1","title":"Tabs","workspaceDirectory":"/p","history":[{"message":{"role":"user","content":"<nacre-memory>\nUse spaces\n</nacre-memory>\nUse tabs"},"contextItems":[{"content":"file"}]},{"message":{"role":"assistant","content":"ok \ud83d\ude00","toolCalls":[{"id":"c1","function":{"name":"Bash","arguments":"{\"command\":\"nacre memory list\"}"}}],"usage":{"prompt_tokens":3,"completion_tokens":2}},"reasoning":{"text":"hm"},"toolCallStates":[{"toolCallId":"c1","status":"errored","output":[{"content":"x"}]}]},{"message":{"role":"tool","toolCallId":"c1","content":"x"}}]}"#;

pub(super) const AIDER: &str = "# aider chat started at 2026-11-16 14:54:41\n\n> Aider v0.86.2  \n\n#### <nacre-memory>  \n#### Use spaces  \n#### </nacre-memory>  \n#### Use tabs  \n> note that\ngoes on  \n\nok \u{1f600}\n\n> Tokens: 1.2k sent, 45 received.  \n\n# aider chat started at 2026-11-17 14:54:41\n#### Again  \n";

pub(super) const EXPORT: &str = r#"{"info":{"id":"ses_1","projectID":"p","directory":"/p","title":"Tabs","revert":{"messageID":"m2"}},"messages":[{"info":{"id":"m1","role":"user","time":{"created":1770000001000}},"parts":[{"id":"p1","type":"text","text":"<nacre-memory>\nUse spaces\n</nacre-memory>\nUse tabs"}]},{"info":{"id":"m2","role":"assistant","modelID":"m","tokens":{"input":1,"output":2}},"parts":[{"id":"p2","type":"reasoning","text":"hm"},{"id":"p3","type":"tool","callID":"c1","tool":"bash","state":{"status":"error","input":{"command":"nacre memory list"},"error":"x"}},{"id":"p4","type":"text","text":"ok \ud83d\ude00"}]}]}"#;
