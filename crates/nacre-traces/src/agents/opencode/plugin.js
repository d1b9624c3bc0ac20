// Written by `nacre connect`; `nacre connect opencode --remove` removes it.
//
// Adds the output of `nacre hook` to sessions and reports the end of each turn. Nothing here may
// throw or hang: every call has a time limit, and errors are ignored.
import { spawn } from "node:child_process";

const NACRE = __NACRE__;
const GUARD = __GUARD__;
const LIMIT_MS = 1000;
const LIMIT_CHARACTERS = 20000;

/** Runs a hook and returns its output, or "" if anything fails. */
function hook(event, input) {
  return new Promise((resolve) => {
    let text = "";
    let child;
    const timer = setTimeout(() => end(""), LIMIT_MS);
    const end = (result) => {
      clearTimeout(timer);
      try {
        child?.kill("SIGKILL");
        // A process that the child started may hold the pipe open.
        child?.stdout.destroy();
      } catch {}
      resolve(result);
    };
    try {
      child = spawn(NACRE, ["hook", "opencode", event], {
        cwd: typeof input.cwd === "string" ? input.cwd : undefined,
        stdio: ["pipe", "pipe", "ignore"],
      });
      child.on("error", () => end(""));
      child.on("close", () => end(text));
      child.stdout.on("error", () => end(""));
      child.stdout.on("data", (chunk) => {
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

/** Starts a hook in the background; it may outlive this process. */
function tell(event, input) {
  try {
    const child = spawn(NACRE, ["hook", "opencode", event], {
      cwd: typeof input.cwd === "string" ? input.cwd : undefined,
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    child.on("error", () => {});
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(input));
    child.unref();
  } catch {}
}

/** Extracts the context to add from a hook's output, in any of the agents' formats. */
function context(text) {
  try {
    const answer = JSON.parse(text);
    const found = answer?.hookSpecificOutput?.additionalContext ?? answer?.additionalContext ?? answer?.context;
    return typeof found === "string" ? found.trim() : "";
  } catch {
    return "";
  }
}

/** Returns a hook's reason for refusing a tool call, or "". */
function refusal(text) {
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

export const NacrePlugin = async (ctx) => {
  /** Why each session needs a brief; "" if it has one. */
  const sources = new Map();
  const cwd = ctx?.directory ?? ctx?.worktree;
  const hooks = {
    "chat.message": async (input, output) => {
      try {
        const session_id = input?.sessionID;
        const said = (output?.parts ?? []).filter((part) => part?.type === "text" && !part.synthetic);
        const prompt = said.map((part) => part.text).join("\n");
        const calls = [hook("prompt", { session_id, cwd, hook_event_name: "prompt", prompt })];
        const source = sources.get(session_id) ?? "startup";
        if (source) {
          sources.set(session_id, "");
          calls.unshift(hook("start", { session_id, cwd, hook_event_name: "start", source }));
        }
        const text = (await Promise.all(calls)).map(context).filter(Boolean).join("\n\n");
        if (!text) return;
        const unique = `${Date.now().toString(36)}${Math.random().toString(36).slice(2, 10)}`;
        output.parts.push({
          id: `prt_zz${unique}`,
          sessionID: session_id,
          messageID: output.message.id,
          type: "text",
          text,
          synthetic: true,
        });
      } catch {}
    },
    event: async ({ event }) => {
      try {
        const session_id = event?.properties?.sessionID ?? event?.properties?.info?.id;
        if (event?.type === "session.compacted") sources.set(session_id, "compact");
        if (event?.type === "session.idle") tell("turn-end", { session_id, cwd, hook_event_name: "turn-end" });
        if (event?.type === "session.deleted") tell("session-end", { session_id, cwd, hook_event_name: "session-end" });
      } catch {}
    },
    "tool.execute.after": async (input, output) => {
      try {
        if (input?.tool !== "bash" || !output?.metadata?.exit) return;
        const failed = { tool_name: input.tool, tool_input: input.args ?? { command: "" }, error: output.output };
        const asked = { session_id: input.sessionID, cwd, hook_event_name: "after-tool", ...failed };
        const text = context(await hook("after-tool", asked));
        if (text) output.output += `\n\n${text}`;
      } catch {}
    },
  };
  if (GUARD) {
    hooks["tool.execute.before"] = async (input, output) => {
      let reason = "";
      try {
        const asked = { tool_name: input?.tool, tool_input: output?.args, tool_use_id: input?.callID };
        reason = refusal(await hook("before-tool", { session_id: input?.sessionID, cwd, hook_event_name: "before-tool", ...asked }));
      } catch {}
      // Throwing refuses the tool call; the model sees the message.
      if (reason) throw new Error(reason);
    };
  }
  return hooks;
};
