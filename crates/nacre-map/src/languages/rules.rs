//! What each grammar calls the things that an outline lists.

use super::language::Language;
use super::outline::SymbolKind;

/// How a kind of node becomes a symbol.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) node: &'static str,
    pub(super) kind: SymbolKind,
    pub(super) name: NameAt,
}

/// Where the name of a symbol stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameAt {
    /// In this field of the node.
    Field(&'static str),
    /// At the end of the declarators that C nests.
    Declarator,
    /// In a declaration of C that declares a function.
    FunctionDeclarator,
    /// In the `name`, when the `value` is a function.
    FunctionValue,
}

const fn rule(node: &'static str, kind: SymbolKind) -> Rule {
    Rule { node, kind, name: NameAt::Field("name") }
}

const fn at(node: &'static str, kind: SymbolKind, name: NameAt) -> Rule {
    Rule { node, kind, name }
}

pub(super) fn rules(language: Language) -> &'static [Rule] {
    match language {
        Language::Bash => BASH,
        Language::C => C,
        Language::Cpp => CPP,
        Language::Go => GO,
        Language::Java => JAVA,
        Language::JavaScript | Language::Tsx | Language::TypeScript => SCRIPT,
        Language::Python => PYTHON,
        Language::Rust => RUST,
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
