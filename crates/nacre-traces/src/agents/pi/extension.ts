// Written by `nacre connect`; `nacre connect pi --remove` removes it.
//
// Adds the output of `nacre hook` to sessions and reports the end of each turn. Nothing here may
// throw or hang: every call has a time limit, and errors are ignored.
import { spawn } from "node:child_process";

const NACRE = __NACRE__;
const GUARD = __GUARD__;
const LIMIT_MS = 1000;
const LIMIT_CHARACTERS = 20000;

function hook(event: string, input: any): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    let child: any;
    const end = (result: string) => {
      clearTimeout(timer);
      try {
        child?.kill("SIGKILL");
        // A process that the child started may hold the pipe open.
        child?.stdout.destroy();
      } catch {}
      resolve(result);
    };
    const timer = setTimeout(() => end(""), LIMIT_MS);
    try {
      child = spawn(NACRE, ["hook", "pi", event], { cwd: input.cwd, stdio: ["pipe", "pipe", "ignore"] });
      child.on("error", () => end(""));
      child.on("close", () => end(text));
      child.stdout.on("error", () => end(""));
      child.stdout.on("data", (chunk: any) => {
        text += chunk;
        if (text.length > LIMIT_CHARACTERS) end("");
      });
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify(input));
    } catch {
      end("");
    }
  });
}

function tell(event: string, input: any) {
  try {
    const child = spawn(NACRE, ["hook", "pi", event], { cwd: input.cwd, stdio: ["pipe", "ignore", "ignore"], detached: true });
    child.on("error", () => {});
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(input));
    child.unref();
  } catch {}
}

function context(text: string): string {
  try {
    const answer = JSON.parse(text);
    const found = answer?.hookSpecificOutput?.additionalContext ?? answer?.additionalContext ?? answer?.context;
    return typeof found === "string" ? found.trim() : "";
  } catch {
    return "";
  }
}

function refusal(text: string): string {
  try {
    const answer = JSON.parse(text);
    const said = answer?.hookSpecificOutput ?? answer ?? {};
    const isDenied = said.permissionDecision === "deny" || answer?.decision === "deny" || answer?.decision === "block";
    if (!isDenied) return "";
    return String(said.permissionDecisionReason ?? answer.reason ?? "refused by Nacre");
  } catch {
    return "";
  }
}

function about(event: string, ctx: any): any {
  const input: any = { hook_event_name: event };
  try {
    input.cwd = ctx?.cwd;
    input.session_id = ctx?.sessionManager?.getSessionId?.();
    input.transcript_path = ctx?.sessionManager?.getSessionFile?.();
  } catch {}
  return input;
}

export default (pi: any) => {
  // Why the session needs a brief; "" if it has one.
  let source = "startup";
  pi.on("session_start", async () => {
    source = "startup";
  });
  pi.on("session_compact", async () => {
    source = "compact";
  });
  pi.on("before_agent_start", async (event: any, ctx: any) => {
    try {
      const calls = [hook("prompt", { ...about("prompt", ctx), prompt: event?.prompt ?? "" })];
      if (source) {
        calls.unshift(hook("start", { ...about("start", ctx), source }));
        source = "";
      }
      const text = (await Promise.all(calls)).map(context).filter(Boolean).join("\n\n");
      if (text) return { message: { customType: "nacre", content: text, display: false } };
    } catch {}
  });
  pi.on("agent_end", async (_event: any, ctx: any) => tell("turn-end", about("turn-end", ctx)));
  pi.on("session_shutdown", async (_event: any, ctx: any) => tell("session-end", about("session-end", ctx)));
  pi.on("tool_result", async (event: any, ctx: any) => {
    try {
      if (event?.toolName !== "bash" || !event.isError) return;
      const error = (event.content ?? []).map((part: any) => part?.text ?? "").join("\n");
      const asked = { tool_name: event.toolName, tool_input: event.input, error };
      const text = context(await hook("after-tool", { ...about("after-tool", ctx), ...asked }));
      if (text) return { content: [...event.content, { type: "text", text }] };
    } catch {}
  });
  if (GUARD) {
    pi.on("tool_call", async (event: any, ctx: any) => {
      try {
        const asked = { tool_name: event?.toolName, tool_input: event?.input };
        const reason = refusal(await hook("before-tool", { ...about("before-tool", ctx), ...asked }));
        if (reason) return { block: true, reason };
      } catch {}
    });
  }
};
