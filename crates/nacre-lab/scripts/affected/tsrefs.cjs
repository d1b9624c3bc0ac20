// References by the language service of TypeScript: reads "path offset" a line, prints the files that use what is declared there.
// All scripts below the folder are one program; compiler options come from its tsconfig.json, where there is one.
const fs = require('fs')
const path = require('path')
const ts = require(process.env.NACRE_TYPESCRIPT || 'typescript')

const root = path.resolve(process.argv[2])
const config = ts.readConfigFile(path.join(root, 'tsconfig.json'), ts.sys.readFile).config || {}
const parsed = ts.convertCompilerOptionsFromJson(config.compilerOptions || { allowJs: true, moduleResolution: 'bundler', module: 'esnext' }, root)
const options = { ...parsed.options, allowJs: true, noEmit: true }
const skipped = new Set(['node_modules', '.git', 'dist'])

function scripts(folder, found = []) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const place = path.join(folder, entry.name)
    if (entry.isDirectory() && !skipped.has(entry.name)) scripts(place, found)
    else if (entry.isFile() && /\.[mc]?[jt]sx?$/.test(entry.name)) found.push(place)
  }
  return found
}

const files = scripts(root)
const host = {
  ...ts.sys,
  useCaseSensitiveFileNames: () => true,
  getScriptFileNames: () => files,
  getScriptVersion: () => '1',
  getScriptSnapshot: (name) => (fs.existsSync(name) ? ts.ScriptSnapshot.fromString(fs.readFileSync(name, 'utf8')) : undefined),
  getCurrentDirectory: () => root,
  getCompilationSettings: () => options,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
}
const service = ts.createLanguageService(host)
for (const line of fs.readFileSync(0, 'utf8').trim().split('\n')) {
  const [name, at] = line.split(' ')
  const own = path.join(root, name)
  const users = new Set()
  for (const found of service.getReferencesAtPosition(own, Number(at)) || []) {
    if (found.fileName !== own && found.fileName.startsWith(root)) users.add(path.relative(root, found.fileName))
  }
  console.log([...users].sort().join(' '))
}
