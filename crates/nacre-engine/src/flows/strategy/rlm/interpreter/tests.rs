//! Code gets nowhere but to the host, and no further than its bounds.

use serde_json::json;

use super::*;

const FUNCTIONS: &[HostFunction] = &[
    HostFunction { name: "double", parameters: &["number", "times"] },
    HostFunction { name: "stop", parameters: &[] },
];

fn host(name: &str, arguments: &Map<String, Value>) -> Reply {
    match (name, arguments.get("number").and_then(Value::as_i64)) {
        ("double", Some(number)) => Reply::Value(json!(number * 2)),
        ("double", None) => Reply::Refused("a number is wanted".to_owned()),
        _ => Reply::Over,
    }
}

fn interpreter() -> Interpreter {
    Interpreter::new(FUNCTIONS, Duration::from_secs(2))
}

fn told(ran: Ran) -> String {
    match ran {
        Ran::Told(text) => text,
        Ran::Over => "(over)".to_owned(),
        Ran::OutOf(why) => format!("(out of: {why})"),
    }
}

#[test]
fn code_computes_calls_the_host_and_is_remembered() {
    let mut interpreter = interpreter();
    told(
        interpreter
            .define("lines", &json!([{ "n": 1, "text": "use pnpm" }, { "n": 2, "text": "ok" }])),
    );
    let mut run = |code: &str| told(interpreter.run(code, &mut host));
    for (code, expected) in [
        ("[line['n'] for line in lines if 'pnpm' in line['text']]", "[1]"),
        ("x = double(21)\nprint('x is', x)", "x is 42\n"),
        ("x + double(number=1)", "44"),
        (
            "try:\n    double('a')\nexcept ValueError as e:\n    print('no:', e)",
            "no: a number is wanted\n",
        ),
        ("double(1, 2, 3)", "ValueError: double takes number, times"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("nothing()", "NameError: name 'nothing' is not defined"),
        ("stop()", "(over)"),
        ("x", "(out of: it was ended)"),
    ] {
        assert_eq!(run(code), expected, "{code}");
    }
}

#[test]
fn there_is_no_way_out() {
    for code in [
        "open('/etc/passwd').read()",
        "import os\nos.environ['HOME']",
        "import os\nos.system('id')",
        "import subprocess",
        "import socket",
        "from pathlib import Path\nPath('/etc/passwd').read_text()",
        "__import__('os').listdir('/')",
        "eval('1')",
    ] {
        let mut interpreter = interpreter();
        let said = told(interpreter.run(code, &mut host));
        assert!(said.contains("Error"), "{code}: {said}");
        assert!(!said.contains("root:"), "{code}: {said}");
    }
}

#[test]
fn time_memory_calls_output_and_depth_are_bounded() {
    for (code, expected) in [
        ("while True:\n    pass", "(out of: TimeoutError"),
        ("x = 'a' * 10**12", "(out of: MemoryError"),
        ("x = []\nwhile True:\n    x.append('a' * 100000 + str(len(x)))", "(out of: MemoryError"),
        (
            "while True:\n    try:\n        double(1)\n    except BaseException:\n        pass",
            "(out of: TimeoutError: no more calls",
        ),
        ("def f(n):\n    return f(n + 1)\nf(0)", "RecursionError"),
        ("double(x)", "NameError"),
    ] {
        let mut interpreter = interpreter();
        let said = told(interpreter.run(code, &mut host));
        assert!(said.starts_with(expected), "{code}: {said}");
    }
    let mut interpreter = interpreter();
    let said = told(interpreter.run("for i in range(100000):\n    print('line', i)", &mut host));
    assert!(said.len() < MAX_OUTPUT + 60 && said.ends_with("more bytes were not shown)"));
    let deep = "x = 1\nfor i in range(30):\n    x = [x]\ndouble(x)";
    let said = told(interpreter.run(deep, &mut host));
    assert!(said.contains("nested too deeply"), "{said}");
    let long = "#".repeat(MAX_CODE + 1);
    assert!(told(interpreter.run(&long, &mut host)).contains("longer than"));
    let nested = format!("{}1{}", "(".repeat(5000), ")".repeat(5000));
    assert!(told(interpreter.run(&nested, &mut host)).contains("Error"), "no stack overflow");
}
