// References by the type checker of Go itself: reads "path line column" a line, prints the files that use what is declared there.
//
// Packages of others that are not here are taken for empty; what does not type-check is left out.
package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

type place struct {
	file         string
	line, column int
}

type loader struct {
	root, module string
	fset         *token.FileSet
	parsed       map[string][]*ast.File
	packages     map[string]*types.Package
	standard     types.Importer
	users        map[place]map[string]bool
}

func (l *loader) Import(path string) (*types.Package, error) {
	if found := l.packages[path]; found != nil {
		return found, nil
	}
	if path == l.module || strings.HasPrefix(path, l.module+"/") {
		folder := filepath.Join(l.root, strings.TrimPrefix(path, l.module))
		return l.check(path, l.files(folder, func(name, pkg string) bool { return !strings.HasSuffix(name, "_test.go") })), nil
	}
	if !strings.Contains(strings.Split(path, "/")[0], ".") {
		if found, err := l.standard.Import(path); err == nil {
			l.packages[path] = found
			return found, nil
		}
	}
	parts := strings.Split(path, "/")
	name := parts[len(parts)-1]
	if len(parts) > 1 && len(name) > 1 && name[0] == 'v' && name[1] >= '0' && name[1] <= '9' {
		name = parts[len(parts)-2]
	}
	name = strings.TrimPrefix(strings.Split(name, ".")[0], "go-")
	found := types.NewPackage(path, name)
	found.MarkComplete()
	l.packages[path] = found
	return found, nil
}

func (l *loader) files(folder string, wanted func(name, pkg string) bool) []*ast.File {
	if _, known := l.parsed[folder]; !known {
		entries, _ := os.ReadDir(folder)
		for _, entry := range entries {
			name := entry.Name()
			if match, _ := build.Default.MatchFile(folder, name); !match || !strings.HasSuffix(name, ".go") {
				continue
			}
			if file, _ := parser.ParseFile(l.fset, filepath.Join(folder, name), nil, parser.SkipObjectResolution); file != nil {
				l.parsed[folder] = append(l.parsed[folder], file)
			}
		}
	}
	var found []*ast.File
	for _, file := range l.parsed[folder] {
		if wanted(l.fset.Position(file.Pos()).Filename, file.Name.Name) {
			found = append(found, file)
		}
	}
	return found
}

func (l *loader) check(path string, files []*ast.File) *types.Package {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	config := types.Config{Importer: l, Error: func(error) {}, FakeImportC: true}
	stub := types.NewPackage(path, filepath.Base(path))
	if l.packages[path] == nil {
		l.packages[path] = stub
	}
	found, _ := config.Check(path, l.fset, files, info)
	if found != nil && l.packages[path] == stub {
		l.packages[path] = found
	}
	for ident, object := range info.Uses {
		l.note(ident, object)
	}
	return found
}

func (l *loader) note(ident *ast.Ident, object types.Object) {
	if function, ok := object.(*types.Func); ok {
		object = function.Origin()
	}
	if !object.Pos().IsValid() {
		return
	}
	at, from := l.fset.Position(object.Pos()), l.fset.Position(ident.Pos())
	if !strings.HasPrefix(at.Filename, l.root) {
		return
	}
	key := place{at.Filename, at.Line, at.Column}
	if l.users[key] == nil {
		l.users[key] = map[string]bool{}
	}
	l.users[key][from.Filename] = true
}

func main() {
	root, _ := filepath.Abs(os.Args[1])
	text, _ := os.ReadFile(filepath.Join(root, "go.mod"))
	module := strings.Fields(strings.SplitN(string(text), "\n", 2)[0])[1]
	l := &loader{root: root, module: module, fset: token.NewFileSet(), parsed: map[string][]*ast.File{}, packages: map[string]*types.Package{},
		users: map[place]map[string]bool{}}
	l.standard = importer.ForCompiler(l.fset, "source", nil)
	filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return nil
		}
		if name := entry.Name(); name == "node_modules" || name == ".git" || name == "vendor" {
			return filepath.SkipDir
		}
		name := module
		if relative, _ := filepath.Rel(root, path); relative != "." {
			name = module + "/" + filepath.ToSlash(relative)
		}
		if len(l.files(path, func(string, string) bool { return true })) == 0 {
			return nil
		}
		l.Import(name)
		// The package with its own tests, and the tests beside it.
		isOuter := func(_, pkg string) bool { return strings.HasSuffix(pkg, "_test") }
		l.check(name+" [test]", l.files(path, func(name, pkg string) bool { return !isOuter(name, pkg) }))
		l.check(name+"_test", l.files(path, isOuter))
		return nil
	})
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var key place
		fmt.Sscan(lines.Text(), &key.file, &key.line, &key.column)
		key.file = filepath.Join(root, key.file)
		var users []string
		for user := range l.users[key] {
			if user != key.file {
				relative, _ := filepath.Rel(root, user)
				users = append(users, relative)
			}
		}
		sort.Strings(users)
		fmt.Println(strings.Join(users, " "))
	}
}
