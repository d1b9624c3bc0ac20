//! Maps each grammar's node kinds to symbols and imports.

use std::collections::HashMap;
use std::sync::OnceLock;

use ast_grep_core::tree_sitter::LanguageExt as _;

use super::analysis::SymbolKind;
use super::counted;
use super::language::Language;

#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) node: &'static str,
    pub(super) kind: SymbolKind,
    pub(super) name: NameAt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameAt {
    Field(&'static str),
    /// The name is inside C's nested declarators.
    Declarator,
    /// The name is inside a C declaration that declares a function.
    FunctionDeclarator,
    /// The name is in the field `name`, if the field `value` is a function.
    FunctionValue,
    /// The name is in the first child whose kind is in the list, for grammars that do not name
    /// fields.
    Child(&'static [&'static str]),
    /// The name is on the left side of an assignment whose value is a function.
    Assigned,
    /// The name is in the first argument of a call that creates a definition. In Elixir, all
    /// definitions are written as calls.
    Definer,
}

const fn rule(node: &'static str, kind: SymbolKind) -> Rule {
    Rule { node, kind, name: NameAt::Field("name") }
}

const fn at(node: &'static str, kind: SymbolKind, name: NameAt) -> Rule {
    Rule { node, kind, name }
}

fn rules(language: Language) -> &'static [Rule] {
    match language {
        Language::Bash => BASH,
        Language::C => C,
        Language::Cpp => CPP,
        Language::CSharp => CSHARP,
        Language::Elixir => ELIXIR,
        Language::Go => GO,
        Language::Java => JAVA,
        Language::JavaScript | Language::Tsx | Language::TypeScript => SCRIPT,
        Language::Kotlin => KOTLIN,
        Language::Lua => LUA,
        Language::Php => PHP,
        Language::Python => PYTHON,
        Language::Ruby => RUBY,
        Language::Rust => RUST,
        Language::Scala => SCALA,
        Language::Swift => SWIFT,
    }
}

const BASH: &[Rule] = &[rule("function_definition", SymbolKind::Function)];

const C: &[Rule] = &[
    at("function_definition", SymbolKind::Function, NameAt::Declarator),
    at("declaration", SymbolKind::Function, NameAt::FunctionDeclarator),
    rule("struct_specifier", SymbolKind::Struct),
    rule("union_specifier", SymbolKind::Struct),
    rule("enum_specifier", SymbolKind::Enum),
    at("type_definition", SymbolKind::Type, NameAt::Declarator),
    rule("preproc_def", SymbolKind::Macro),
    rule("preproc_function_def", SymbolKind::Macro),
];

const CPP: &[Rule] = &[
    at("function_definition", SymbolKind::Function, NameAt::Declarator),
    at("declaration", SymbolKind::Function, NameAt::FunctionDeclarator),
    at("field_declaration", SymbolKind::Function, NameAt::FunctionDeclarator),
    rule("class_specifier", SymbolKind::Class),
    rule("struct_specifier", SymbolKind::Struct),
    rule("union_specifier", SymbolKind::Struct),
    rule("enum_specifier", SymbolKind::Enum),
    rule("namespace_definition", SymbolKind::Module),
    rule("alias_declaration", SymbolKind::Type),
    at("type_definition", SymbolKind::Type, NameAt::Declarator),
    rule("preproc_def", SymbolKind::Macro),
    rule("preproc_function_def", SymbolKind::Macro),
];

const GO: &[Rule] = &[
    rule("function_declaration", SymbolKind::Function),
    rule("method_declaration", SymbolKind::Method),
    rule("type_spec", SymbolKind::Type),
    rule("type_alias", SymbolKind::Type),
    rule("const_spec", SymbolKind::Constant),
];

const JAVA: &[Rule] = &[
    rule("class_declaration", SymbolKind::Class),
    rule("interface_declaration", SymbolKind::Interface),
    rule("annotation_type_declaration", SymbolKind::Interface),
    rule("enum_declaration", SymbolKind::Enum),
    rule("record_declaration", SymbolKind::Class),
    rule("method_declaration", SymbolKind::Method),
    rule("constructor_declaration", SymbolKind::Method),
];

const SCRIPT: &[Rule] = &[
    rule("function_declaration", SymbolKind::Function),
    rule("generator_function_declaration", SymbolKind::Function),
    rule("function_signature", SymbolKind::Function),
    rule("class_declaration", SymbolKind::Class),
    rule("abstract_class_declaration", SymbolKind::Class),
    rule("method_definition", SymbolKind::Method),
    rule("abstract_method_signature", SymbolKind::Method),
    rule("method_signature", SymbolKind::Method),
    rule("interface_declaration", SymbolKind::Interface),
    rule("type_alias_declaration", SymbolKind::Type),
    rule("enum_declaration", SymbolKind::Enum),
    rule("internal_module", SymbolKind::Module),
    rule("module", SymbolKind::Module),
    at("variable_declarator", SymbolKind::Function, NameAt::FunctionValue),
    at("public_field_definition", SymbolKind::Method, NameAt::FunctionValue),
];

const PYTHON: &[Rule] = &[
    rule("function_definition", SymbolKind::Function),
    rule("class_definition", SymbolKind::Class),
    rule("type_alias_statement", SymbolKind::Type),
];

const RUST: &[Rule] = &[
    rule("function_item", SymbolKind::Function),
    rule("function_signature_item", SymbolKind::Function),
    rule("struct_item", SymbolKind::Struct),
    rule("union_item", SymbolKind::Struct),
    rule("enum_item", SymbolKind::Enum),
    rule("trait_item", SymbolKind::Interface),
    at("impl_item", SymbolKind::Implementation, NameAt::Field("type")),
    rule("mod_item", SymbolKind::Module),
    rule("type_item", SymbolKind::Type),
    rule("const_item", SymbolKind::Constant),
    rule("static_item", SymbolKind::Constant),
    rule("macro_definition", SymbolKind::Macro),
];

const CSHARP: &[Rule] = &[
    rule("namespace_declaration", SymbolKind::Module),
    rule("file_scoped_namespace_declaration", SymbolKind::Module),
    rule("class_declaration", SymbolKind::Class),
    rule("record_declaration", SymbolKind::Class),
    rule("struct_declaration", SymbolKind::Struct),
    rule("interface_declaration", SymbolKind::Interface),
    rule("enum_declaration", SymbolKind::Enum),
    rule("delegate_declaration", SymbolKind::Type),
    rule("method_declaration", SymbolKind::Method),
    rule("constructor_declaration", SymbolKind::Method),
];

const ELIXIR: &[Rule] = &[at("call", SymbolKind::Function, NameAt::Definer)];

const KOTLIN: &[Rule] = &[
    at("class_declaration", SymbolKind::Class, NameAt::Child(&["type_identifier"])),
    at("object_declaration", SymbolKind::Class, NameAt::Child(&["type_identifier"])),
    at("function_declaration", SymbolKind::Function, NameAt::Child(&["simple_identifier"])),
    at("type_alias", SymbolKind::Type, NameAt::Child(&["type_identifier"])),
];

const LUA: &[Rule] = &[
    rule("function_declaration", SymbolKind::Function),
    at("assignment_statement", SymbolKind::Function, NameAt::Assigned),
];

const PHP: &[Rule] = &[
    rule("namespace_definition", SymbolKind::Module),
    rule("class_declaration", SymbolKind::Class),
    rule("interface_declaration", SymbolKind::Interface),
    rule("trait_declaration", SymbolKind::Interface),
    rule("enum_declaration", SymbolKind::Enum),
    rule("function_definition", SymbolKind::Function),
    rule("method_declaration", SymbolKind::Method),
    at("const_element", SymbolKind::Constant, NameAt::Child(&["name"])),
];

const RUBY: &[Rule] = &[
    rule("class", SymbolKind::Class),
    rule("module", SymbolKind::Module),
    rule("method", SymbolKind::Function),
    rule("singleton_method", SymbolKind::Function),
];

const SCALA: &[Rule] = &[
    rule("class_definition", SymbolKind::Class),
    rule("object_definition", SymbolKind::Class),
    rule("trait_definition", SymbolKind::Interface),
    rule("enum_definition", SymbolKind::Enum),
    rule("function_definition", SymbolKind::Function),
    rule("function_declaration", SymbolKind::Function),
    rule("type_definition", SymbolKind::Type),
];

const SWIFT: &[Rule] = &[
    rule("class_declaration", SymbolKind::Class),
    rule("protocol_declaration", SymbolKind::Interface),
    rule("function_declaration", SymbolKind::Function),
    rule("protocol_function_declaration", SymbolKind::Function),
    rule("init_declaration", SymbolKind::Function),
    rule("typealias_declaration", SymbolKind::Type),
];

fn import_nodes(language: Language) -> &'static [&'static str] {
    match language {
        Language::Bash => &["command"],
        Language::C | Language::Cpp => &["preproc_include"],
        Language::CSharp => &["using_directive"],
        Language::Elixir => &["call"],
        Language::Go => &["import_spec"],
        Language::Java | Language::Scala | Language::Swift => &["import_declaration"],
        Language::JavaScript | Language::Tsx | Language::TypeScript => {
            &["import_statement", "export_statement", "call_expression"]
        }
        Language::Kotlin => &["import_header"],
        Language::Lua => &["function_call"],
        Language::Php => &[
            "namespace_use_declaration",
            "require_expression",
            "require_once_expression",
            "include_expression",
            "include_once_expression",
        ],
        Language::Python => {
            &["import_statement", "import_from_statement", "future_import_statement"]
        }
        Language::Ruby => &["call"],
        Language::Rust => &["use_declaration", "extern_crate_declaration", "mod_item"],
    }
}

/// Nodes that wrap a declaration and are part of it.
const WRAPPERS: &[&str] = &[
    "decorated_definition",
    "export_statement",
    "lexical_declaration",
    "template_declaration",
    "variable_declaration",
];

/// How a walk handles nodes of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Meaning {
    pub(super) rule: Option<&'static Rule>,
    pub(super) is_import: bool,
    pub(super) is_wrapper: bool,
}

/// Returns each node kind's meaning, indexed by the grammar's kind ID.
pub(super) fn meanings(language: Language) -> &'static [Meaning] {
    static TABLES: OnceLock<HashMap<Language, Vec<Meaning>>> = OnceLock::new();
    let tables = TABLES.get_or_init(|| {
        let known = Language::all().filter(|language| language.has_grammar());
        known.map(|language| (language, table(language))).collect()
    });
    tables.get(&language).map_or(&[], Vec::as_slice)
}

fn table(language: Language) -> Vec<Meaning> {
    counted::count_allocations();
    let grammar = language.grammar().get_ts_language();
    let meaning = |id: usize| {
        let id = u16::try_from(id).ok()?;
        let kind = grammar.node_kind_for_id(id).filter(|_| grammar.node_kind_is_named(id))?;
        Some(Meaning {
            rule: rules(language).iter().find(|rule| rule.node == kind),
            is_import: import_nodes(language).contains(&kind),
            is_wrapper: WRAPPERS.contains(&kind),
        })
    };
    (0..grammar.node_kind_count()).map(|id| meaning(id).unwrap_or_default()).collect()
}
