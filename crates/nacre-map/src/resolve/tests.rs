//! Tests how imports resolve in a small source tree for each language.

use std::fmt::Write as _;

use super::*;
use crate::languages::{Analysis, analyse};

/// Resolves the imports in a list of files, each given as a path and its content. Manifests are
/// parsed as such.
fn edges(files: &[(&str, &str)]) -> String {
    let mut files: Vec<(RelativePath, &str)> =
        files.iter().map(|(path, text)| (RelativePath::new(path).unwrap(), *text)).collect();
    files.sort();
    let analyses: Vec<(Option<Language>, Analysis)> = files
        .iter()
        .map(|(path, text)| {
            let language = Language::of_path(path.as_str());
            (
                language,
                language
                    .map_or_else(Analysis::default, |language| analyse(language, text.as_bytes())),
            )
        })
        .collect();
    let sources: Vec<FileOutline<'_>> = files
        .iter()
        .zip(analyses)
        .map(|((path, _), (language, analysis))| FileOutline {
            path: path.as_str(),
            language,
            outline: language.map(|language| analysis.into_outline(language)).unwrap_or_default(),
        })
        .collect();
    let manifests: Vec<Manifest> = files
        .iter()
        .filter(|(path, _)| is_manifest(path.name()))
        .map(|(path, text)| Manifest { path: path.clone(), text: (*text).to_owned() })
        .collect();
    let resolver = Resolver::new(&sources, &manifests);
    let mut following = resolver.following();
    let mut shown = String::new();
    for (from, source) in sources.iter().enumerate() {
        for import in &source.outline.imports {
            // Caching must not change the results.
            assert_eq!(following.resolve(from, import), resolver.following().resolve(from, import));
            let to = match following.resolve(from, import) {
                Resolution::Outside => "outside".to_owned(),
                Resolution::Missing => "missing".to_owned(),
                Resolution::Inside(targets) => targets
                    .iter()
                    .map(|target| named(&sources, *target))
                    .collect::<Vec<_>>()
                    .join(", "),
            };
            writeln!(shown, "{} {} -> {to}", source.path, import.text).unwrap();
        }
    }
    shown
}

fn named(sources: &[FileOutline<'_>], target: Target) -> String {
    match target {
        Target::File(idx) => sources[idx].path.to_owned(),
        Target::Folder(idx) => format!("{}/", files::folder_of(sources[idx].path)),
    }
}

#[test]
fn rust_modules_and_crates_lead_to_files() {
    insta::assert_snapshot!(edges(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]"),
        ("crates/sea-core/Cargo.toml", "[package]\nname = \"sea-core\""),
        ("crates/sea-core/src/lib.rs", "mod pearl;\npub mod deep;\npub use pearl::Pearl;\nuse deep::tide::Tide;\n"),
        ("crates/sea-core/src/pearl.rs", "use super::deep;\nuse crate::deep::tide::{self, Tide};\nmod layers;\nuse layers::Layer;\nuse std::fmt;\nuse serde::Serialize;\n#[cfg(test)]\nmod tests { use super::*; use super::super::Pearl; }\n"),
        ("crates/sea-core/src/pearl/layers.rs", "use super::super::deep::Depth;\nuse super::Pearl;\n"),
        ("crates/sea-core/src/deep/mod.rs", "pub mod tide;\npub use self::tide::Tide;\nmod generated;\n"),
        ("crates/sea-core/src/deep/tide.rs", "use crate::Pearl;\nuse super::Depth;\n"),
        ("crates/sea/Cargo.toml", "[package]\nname = \"sea\"\n[[bin]]\nname = \"sea\"\npath = \"bin/start.rs\""),
        ("crates/sea/bin/start.rs", "mod part;\nuse sea_core::deep::tide::Tide;\nuse crate::part::x;\n"),
        ("crates/sea/bin/part.rs", "use super::start;\n"),
        ("crates/sea/src/lib.rs", "pub mod client { mod hello; pub struct Cert; }\nmod tests;\n"),
        ("crates/sea/src/client/hello.rs", "use super::Cert;\n"),
        ("crates/sea/src/tests/loom.rs", "mod pair;\nuse super::super::client;\n"),
        ("crates/sea/src/tests/mod.rs", "mod loom;\n"),
        ("crates/sea/src/tests/loom/pair.rs", "use crate::client;\n"),
        ("crates/sea/tests/it/main.rs", "mod home;\nuse crate::home::Home;\n"),
        ("crates/sea/tests/it/home.rs", "use crate::main;\n"),
    ]), @"
    crates/sea-core/src/deep/mod.rs tide -> crates/sea-core/src/deep/tide.rs
    crates/sea-core/src/deep/mod.rs self::tide::Tide -> crates/sea-core/src/deep/tide.rs
    crates/sea-core/src/deep/mod.rs generated -> missing
    crates/sea-core/src/deep/tide.rs crate::Pearl -> crates/sea-core/src/lib.rs
    crates/sea-core/src/deep/tide.rs super::Depth -> crates/sea-core/src/deep/mod.rs
    crates/sea-core/src/lib.rs pearl -> crates/sea-core/src/pearl.rs
    crates/sea-core/src/lib.rs deep -> crates/sea-core/src/deep/mod.rs
    crates/sea-core/src/lib.rs pearl::Pearl -> crates/sea-core/src/pearl.rs
    crates/sea-core/src/lib.rs deep::tide::Tide -> crates/sea-core/src/deep/tide.rs
    crates/sea-core/src/pearl.rs super::deep -> crates/sea-core/src/deep/mod.rs
    crates/sea-core/src/pearl.rs crate::deep::tide -> crates/sea-core/src/deep/tide.rs
    crates/sea-core/src/pearl.rs crate::deep::tide::Tide -> crates/sea-core/src/deep/tide.rs
    crates/sea-core/src/pearl.rs layers -> crates/sea-core/src/pearl/layers.rs
    crates/sea-core/src/pearl.rs layers::Layer -> crates/sea-core/src/pearl/layers.rs
    crates/sea-core/src/pearl.rs std::fmt -> outside
    crates/sea-core/src/pearl.rs serde::Serialize -> outside
    crates/sea-core/src/pearl.rs self -> crates/sea-core/src/pearl.rs
    crates/sea-core/src/pearl.rs super::Pearl -> crates/sea-core/src/lib.rs
    crates/sea-core/src/pearl/layers.rs super::super::deep::Depth -> crates/sea-core/src/deep/mod.rs
    crates/sea-core/src/pearl/layers.rs super::Pearl -> crates/sea-core/src/pearl.rs
    crates/sea/bin/part.rs super::start -> crates/sea/bin/start.rs
    crates/sea/bin/start.rs part -> crates/sea/bin/part.rs
    crates/sea/bin/start.rs sea_core::deep::tide::Tide -> crates/sea-core/src/deep/tide.rs
    crates/sea/bin/start.rs crate::part::x -> crates/sea/bin/part.rs
    crates/sea/src/client/hello.rs super::Cert -> crates/sea/src/lib.rs
    crates/sea/src/lib.rs client::hello -> crates/sea/src/client/hello.rs
    crates/sea/src/lib.rs tests -> crates/sea/src/tests/mod.rs
    crates/sea/src/tests/loom.rs pair -> crates/sea/src/tests/loom/pair.rs
    crates/sea/src/tests/loom.rs super::super::client -> crates/sea/src/lib.rs
    crates/sea/src/tests/loom/pair.rs crate::client -> crates/sea/src/lib.rs
    crates/sea/src/tests/mod.rs loom -> crates/sea/src/tests/loom.rs
    crates/sea/tests/it/home.rs crate::main -> crates/sea/tests/it/main.rs
    crates/sea/tests/it/main.rs home -> crates/sea/tests/it/home.rs
    crates/sea/tests/it/main.rs crate::home::Home -> crates/sea/tests/it/home.rs
    ");
}

#[test]
fn python_packages_lead_to_files() {
    insta::assert_snapshot!(edges(&[
        ("src/sea/__init__.py", "from .pearl import Pearl\nfrom . import deep, missing_name\n"),
        ("src/sea/pearl.py", "import os\nfrom sea.deep.tide import Tide\nimport sea.deep\nfrom sea import Pearl\nfrom requests import get\nfrom ._native import fast\n"),
        ("src/sea/_native.pyx", ""),
        ("src/sea/deep/__init__.py", ""),
        ("src/sea/deep/tide.py", "from ..pearl import Pearl\nfrom .. import pearl\nfrom .gone.far import x\nfrom sea.gone.far import y\n"),
        ("tests/test_pearl.py", "from sea.pearl import Pearl\nimport helpers\n"),
        ("tests/helpers.py", ""),
    ]), @"
    src/sea/__init__.py .pearl.Pearl -> src/sea/pearl.py
    src/sea/__init__.py .deep -> src/sea/deep/__init__.py
    src/sea/__init__.py .missing_name -> src/sea/__init__.py
    src/sea/deep/tide.py ..pearl.Pearl -> src/sea/pearl.py
    src/sea/deep/tide.py ..pearl -> src/sea/pearl.py
    src/sea/deep/tide.py .gone.far.x -> missing
    src/sea/deep/tide.py sea.gone.far.y -> missing
    src/sea/pearl.py os -> outside
    src/sea/pearl.py sea.deep.tide.Tide -> src/sea/deep/tide.py
    src/sea/pearl.py sea.deep -> src/sea/deep/__init__.py
    src/sea/pearl.py sea.Pearl -> src/sea/__init__.py
    src/sea/pearl.py requests.get -> outside
    src/sea/pearl.py ._native.fast -> src/sea/_native.pyx
    tests/test_pearl.py sea.pearl.Pearl -> src/sea/pearl.py
    tests/test_pearl.py helpers -> tests/helpers.py
    ");
}

#[test]
fn script_paths_aliases_and_workspaces_lead_to_files() {
    insta::assert_snapshot!(edges(&[
        ("tsconfig.base.json", "{ // shared\n \"compilerOptions\": { \"baseUrl\": \".\", \"paths\": { \"@sea/*\": [\"packages/*/src\"], \"~/*\": [\"app/*\",], } } }"),
        ("app/tsconfig.json", "{ \"extends\": \"../tsconfig.base.json\" }"),
        ("app/main.ts", "import { a } from './a';\nimport b from './b.js';\nimport '~/deep';\nimport { p } from '@sea/pearl';\nimport fs from 'node:fs';\nimport React from 'react';\nimport './gone';\nimport style from './a.css';\nexport * from '~/gone';\n"),
        ("app/a.tsx", "import { q } from 'plain-package/sub';\nconst r = require('plain-package');\nimport x from '#inner/x';\n"),
        ("app/a.css", ""),
        ("app/b.ts", ""),
        ("app/deep/index.ts", "import '..';\n"),
        ("app/package.json", "{ \"imports\": { \"#inner/*\": \"./deep/*.ts\" } }"),
        ("app/deep/x.ts", ""),
        ("packages/pearl/src/index.ts", ""),
        ("packages/plain/package.json", "{ \"name\": \"plain-package\", \"main\": \"dist/main.js\", \"exports\": { \".\": { \"import\": \"./dist/main.js\" }, \"./sub\": \"./dist/sub.js\" } }"),
        ("packages/plain/src/main.ts", "import { T } from 'types/tide';\nimport x from 'parts/x';\nimport get from 'lodash/get';\n"),
        ("packages/plain/src/sub.ts", ""),
        ("packages/plain/src/parts/x.ts", ""),
        ("packages/plain/types/tide.d.ts", ""),
    ]), @"
    app/a.tsx plain-package/sub -> packages/plain/src/sub.ts
    app/a.tsx plain-package -> packages/plain/src/main.ts
    app/a.tsx #inner/x -> app/deep/x.ts
    app/deep/index.ts .. -> missing
    app/main.ts ./a -> app/a.tsx
    app/main.ts ./b.js -> app/b.ts
    app/main.ts ~/deep -> app/deep/index.ts
    app/main.ts @sea/pearl -> packages/pearl/src/index.ts
    app/main.ts node:fs -> outside
    app/main.ts react -> outside
    app/main.ts ./gone -> missing
    app/main.ts ./a.css -> app/a.css
    app/main.ts ~/gone -> missing
    packages/plain/src/main.ts types/tide -> packages/plain/types/tide.d.ts
    packages/plain/src/main.ts parts/x -> packages/plain/src/parts/x.ts
    packages/plain/src/main.ts lodash/get -> outside
    ");
}

#[test]
fn grouped_imports_of_go_lead_to_packages() {
    insta::assert_snapshot!(edges(&[
        ("go.mod", "module example.com/sea\n\ngo 1.22\n"),
        ("main.go", "package main\nimport (\n\t\"fmt\"\n\t\"example.com/sea/pkg/pearl\"\n\tx \"example.com/sea/tools/cut\"\n\t\"example.com/seaside\"\n\t\"example.com/sea/gone\"\n)\n"),
        ("pkg/pearl/pearl.go", "package pearl\nimport \"example.com/sea\"\n"),
        ("pkg/pearl/grow.go", "package pearl\n"),
        ("tools/go.mod", "module example.com/sea/tools\n"),
        ("tools/cut/cut.go", "package cut\n"),
    ]), @"
    main.go fmt -> outside
    main.go example.com/sea/pkg/pearl -> pkg/pearl/
    main.go example.com/sea/tools/cut -> tools/cut/
    main.go example.com/seaside -> outside
    main.go example.com/sea/gone -> missing
    pkg/pearl/pearl.go example.com/sea -> /
    ");
}

#[test]
fn names_of_the_jvm_lead_to_files() {
    insta::assert_snapshot!(edges(&[
        ("core/src/main/java/org/sea/Pearl.java", "package org.sea;\nimport java.util.List;\nimport org.sea.deep.Tide;\nimport static org.sea.deep.Tide.HIGH;\nimport org.sea.deep.*;\nimport org.sea.gone.Away;\nimport org.sea.deep.Nobody;\n"),
        ("core/src/main/java/org/sea/deep/Tide.java", "package org.sea.deep;\nimport org.sea.Pearl.Layer;\n"),
        ("app/src/main/kotlin/org/sea/app/Main.kt", "package org.sea.app\nimport org.sea.Pearl\nimport org.sea.app.helpers.grow\n"),
        ("app/src/main/kotlin/org/sea/app/helpers/Growing.kt", "package org.sea.app.helpers\nfun grow() {}\n"),
    ]), @"
    app/src/main/kotlin/org/sea/app/Main.kt org.sea.Pearl -> core/src/main/java/org/sea/Pearl.java
    app/src/main/kotlin/org/sea/app/Main.kt org.sea.app.helpers.grow -> app/src/main/kotlin/org/sea/app/helpers/Growing.kt
    core/src/main/java/org/sea/Pearl.java java.util.List -> outside
    core/src/main/java/org/sea/Pearl.java org.sea.deep.Tide -> core/src/main/java/org/sea/deep/Tide.java
    core/src/main/java/org/sea/Pearl.java org.sea.deep.Tide.HIGH -> core/src/main/java/org/sea/deep/Tide.java
    core/src/main/java/org/sea/Pearl.java org.sea.deep.* -> core/src/main/java/org/sea/deep/
    core/src/main/java/org/sea/Pearl.java org.sea.gone.Away -> missing
    core/src/main/java/org/sea/Pearl.java org.sea.deep.Nobody -> missing
    core/src/main/java/org/sea/deep/Tide.java org.sea.Pearl.Layer -> core/src/main/java/org/sea/Pearl.java
    ");
}

#[test]
fn includes_lead_to_files() {
    insta::assert_snapshot!(edges(&[
        ("src/main.c", "#include <stdio.h>\n#include \"pearl.h\"\n#include \"deep/tide.h\"\n#include <sea/shell.h>\n#include \"config.h\"\n"),
        ("src/pearl.h", "#include \"../src/deep/tide.h\"\n"),
        ("src/deep/tide.h", ""),
        ("include/sea/shell.h", ""),
        ("vendor/other/stdio.h", ""),
    ]), @"
    src/main.c stdio.h -> outside
    src/main.c pearl.h -> src/pearl.h
    src/main.c deep/tide.h -> src/deep/tide.h
    src/main.c sea/shell.h -> include/sea/shell.h
    src/main.c config.h -> missing
    src/pearl.h ../src/deep/tide.h -> src/deep/tide.h
    ");
}

#[cfg(feature = "more-languages")]
#[test]
fn other_languages_lead_to_files_by_path_and_by_module() {
    insta::assert_snapshot!(edges(&[
        ("lib/sea.rb", "require 'json'\nrequire 'sea/pearl'\nrequire_relative 'sea/pearl'\nrequire_relative 'gone'\n"),
        ("lib/sea/pearl.rb", ""),
        ("composer.json", "{ \"autoload\": { \"psr-4\": { \"Sea\\\\\": \"php/\" } } }"),
        ("php/Pearl.php", "<?php\nnamespace Sea;\nuse Sea\\Deep\\Tide;\nuse Sea\\Gone;\nuse Other\\Thing;\nuse Odd\\Place\\Shell;\nclass Pearl {}\n"),
        ("php/Deep/Tide.php", "<?php\nnamespace Sea\\Deep;\nclass Tide {}\n"),
        ("odd.php", "<?php\nnamespace Odd\\Place;\nclass Shell {}\n"),
        ("cs/A.cs", "using System;\nusing Sea.Deep;\nusing P = Sea.Deep.Tide;\nnamespace Sea { class A {} }\n"),
        ("cs/B.cs", "namespace Sea.Deep { public class Tide {} }\n"),
        ("cs/C.cs", "namespace Sea.Deep { public class Wave {} }\n"),
        ("ex/pearl.ex", "defmodule Sea.Pearl do\n  alias Sea.Tide\n  use GenServer\nend\n"),
        ("ex/tide.ex", "defmodule Sea.Tide do\nend\n"),
        ("lua/main.lua", "local a = require('sea.pearl')\nlocal b = require 'socket'\n"),
        ("lua/sea/pearl.lua", ""),
        ("Sources/Sea/Pearl.swift", "import Foundation\nimport Deep\n"),
        ("Sources/Deep/Tide.swift", ""),
        ("run.sh", "source tools/lib.sh\n. ./gone.sh\n. /etc/profile\n"),
        ("tools/lib.sh", ""),
    ]), @r"
    Sources/Sea/Pearl.swift Foundation -> outside
    Sources/Sea/Pearl.swift Deep -> Sources/Deep/
    cs/A.cs System -> outside
    cs/A.cs Sea.Deep -> cs/B.cs, cs/C.cs
    cs/A.cs Sea.Deep.Tide -> cs/B.cs
    ex/pearl.ex Sea.Tide -> ex/tide.ex
    ex/pearl.ex GenServer -> outside
    lib/sea.rb json -> outside
    lib/sea.rb sea/pearl -> lib/sea/pearl.rb
    lib/sea.rb sea/pearl -> lib/sea/pearl.rb
    lib/sea.rb gone -> missing
    lua/main.lua sea.pearl -> lua/sea/pearl.lua
    lua/main.lua socket -> outside
    php/Pearl.php Sea\Deep\Tide -> php/Deep/Tide.php
    php/Pearl.php Sea\Gone -> missing
    php/Pearl.php Other\Thing -> outside
    php/Pearl.php Odd\Place\Shell -> odd.php
    run.sh tools/lib.sh -> tools/lib.sh
    run.sh ./gone.sh -> missing
    run.sh /etc/profile -> outside
    ");
}

/// Creates a file with so many names and imports that comparing every pair would exceed the limit.
fn busy(language: Language, text: &str) -> Vec<Resolution> {
    let analysis = crate::languages::glance(language, text.as_bytes());
    let outline = analysis.into_outline(language);
    let path = if language == Language::Rust { "busy.rs" } else { "sea/pearl/busy.kt" };
    let sources = [FileOutline { path, language: Some(language), outline: outline.clone() }];
    let resolver = Resolver::new(&sources, &[]);
    let mut following = resolver.following();
    outline.imports.iter().map(|import| following.resolve(0, import)).collect()
}

#[test]
fn what_the_imports_of_one_file_may_cost_is_bounded() {
    let n = 1_900;
    let functions: String = (0..n).map(|n| format!("fn f{n}() {{}}\n")).collect();
    let strangers = |line: &dyn Fn(usize) -> String| (0..n).map(line).collect::<String>();
    let rust = strangers(&|n| format!("use x{n}::y;\n"));
    let found = busy(Language::Rust, &format!("use f0::a;\n{rust}use f1::a;\n{functions}"));
    let (first, last) = (found.first().unwrap(), found.last().unwrap());
    assert_eq!((found.len(), first, last), (n + 2, &file(0), &Resolution::Outside));
    let functions = functions.replace("fn ", "fun ");
    let kotlin = strangers(&|n| format!("import sea.pearl.x{n}\n"));
    let text = format!("import sea.pearl.f0\n{kotlin}import sea.pearl.f1\n{functions}");
    let found = busy(Language::Kotlin, &text);
    assert_eq!((found.len(), found.first().unwrap()), (n + 2, &file(0)));
    assert_ne!(found.last().unwrap(), &file(0));
}
