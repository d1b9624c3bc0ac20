// References by javac itself: reads "path offset" a line, prints the files that use what is declared at that offset.
// Libraries that are not here are errors that javac goes on from.

import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import javax.lang.model.element.*;
import javax.tools.*;

public class JavaRefs {
    public static void main(String[] args) throws Exception {
        Path root = Path.of(args[0]).toAbsolutePath();
        List<File> files;
        try (Stream<Path> all = Files.walk(root)) {
            files = all.filter(path -> path.toString().endsWith(".java") && !path.toString().endsWith("module-info.java"))
                .map(Path::toFile).collect(Collectors.toList());
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null);
        List<String> options = List.of("-proc:none", "-XDshould-stop.ifError=ATTR", "-implicit:none", "-Xmaxerrs", "1");
        JavacTask task = (JavacTask) compiler.getTask(Writer.nullWriter(), manager, found -> { }, options, null,
            manager.getJavaFileObjectsFromFiles(files));
        List<CompilationUnitTree> units = new ArrayList<>();
        task.parse().forEach(units::add);
        try {
            task.analyze();
        } catch (Throwable fault) {
            System.err.println("analysis ended early: " + fault);
        }
        Trees trees = Trees.instance(task);
        SourcePositions positions = trees.getSourcePositions();
        // Declarations by element, then users by declaration.
        Map<Element, String> declared = new HashMap<>();
        Map<String, Set<String>> users = new HashMap<>();
        for (CompilationUnitTree unit : units) {
            String path = root.relativize(Path.of(unit.getSourceFile().toUri())).toString();
            CharSequence text = unit.getSourceFile().getCharContent(true);
            new TreePathScanner<Void, Void>() {
                private void add(Tree tree, CharSequence name) {
                    Element element = trees.getElement(getCurrentPath());
                    long start = positions.getStartPosition(unit, tree);
                    if (element == null || start < 0) return;
                    java.util.regex.Matcher word = java.util.regex.Pattern.compile("\\b" + java.util.regex.Pattern.quote(name.toString()) + "\\s*[(<{ \\n]").matcher(text);
                    // The name follows modifiers and types; annotations may mention it before, rarely.
                    int from = (int) start;
                    if (word.find(from)) declared.put(element, path + " " + word.start());
                }
                @Override public Void visitClass(ClassTree tree, Void none) { add(tree, tree.getSimpleName()); return super.visitClass(tree, none); }
                @Override public Void visitMethod(MethodTree tree, Void none) { add(tree, tree.getName()); return super.visitMethod(tree, none); }
            }.scan(unit, null);
        }
        for (CompilationUnitTree unit : units) {
            String path = root.relativize(Path.of(unit.getSourceFile().toUri())).toString();
            new TreePathScanner<Void, Void>() {
                private void use() {
                    Element element;
                    try { element = trees.getElement(getCurrentPath()); } catch (Throwable fault) { return; }
                    String at = element == null ? null : declared.get(element);
                    if (at != null && !at.startsWith(path + " ")) users.computeIfAbsent(at, key -> new TreeSet<>()).add(path);
                }
                @Override public Void visitIdentifier(IdentifierTree tree, Void none) { use(); return super.visitIdentifier(tree, none); }
                @Override public Void visitMemberSelect(MemberSelectTree tree, Void none) { use(); return super.visitMemberSelect(tree, none); }
                @Override public Void visitMemberReference(MemberReferenceTree tree, Void none) { use(); return super.visitMemberReference(tree, none); }
                @Override public Void visitNewClass(NewClassTree tree, Void none) { use(); return super.visitNewClass(tree, none); }
            }.scan(unit, null);
        }
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            System.out.println(String.join(" ", users.getOrDefault(line, Set.of())));
        }
    }
}
