//! A terminal of a given size, for testing output that appears only on terminals.

use std::process::{Command, Stdio};

use crate::home::TestHome;

/// Runs a program in its own terminal, types keys, and prints all output. The size is set before
/// the program starts, so the program never sees another size.
const ON_A_TERMINAL: &str = "
import fcntl, os, pty, struct, sys, termios
rows, columns, keys = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].encode()
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
    os.execv(sys.argv[4], sys.argv[4:])
os.write(terminal, keys)
shown = b''
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        break
    if not piece:
        break
    shown += piece
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.stdout.buffer.write(shown)
sys.stdout.flush()
sys.exit(status)
";

/// A terminal, and the keys to type in it.
pub(crate) struct Terminal {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) keys: &'static str,
    /// Environment variables to set besides the home's.
    pub(crate) vars: Vec<(&'static str, String)>,
}

impl Default for Terminal {
    fn default() -> Self {
        let vars = vec![("NO_COLOR", "1".to_owned())];
        Self { rows: 1000, columns: 80, keys: "", vars }
    }
}

impl Terminal {
    /// Returns what the screen shows, or `None` without Python, which provides the terminal.
    pub(crate) fn run(&self, home: &TestHome, args: &[&str]) -> Option<String> {
        let (code, text) = self.run_to_end(home, args)?;
        assert_eq!(code, 0, "nacre {args:?}: {text}");
        Some(text)
    }

    /// Like `run`, but also returns the exit code.
    pub(crate) fn run_to_end(&self, home: &TestHome, args: &[&str]) -> Option<(i32, String)> {
        let nacre = home.command(&home.work(), args);
        let mut command = Command::new("python3");
        let [rows, columns] = [self.rows, self.columns].map(|n| n.to_string());
        command.args(["-c", ON_A_TERMINAL, &rows, &columns, self.keys]);
        command.arg(nacre.get_program()).args(nacre.get_args());
        command.current_dir(home.work()).env_clear();
        command.envs(nacre.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.envs(self.vars.iter().map(|(name, value)| (name, value)));
        let output = command.stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
        let text = text.replace(&*home.root().to_string_lossy(), "$HOME");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.is_empty(), "{error}");
        Some((output.status.code()?, text))
    }
}
