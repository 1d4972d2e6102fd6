// `bun run bench [name] [arguments]`: runs tests/**/<name>.bench.ts, all of them without a name. Benchmarks print; they
// never fail, since a busy machine is no bug.
import process from 'node:process'
import { commandLine, refused } from './command-line.ts'

const files = [...new Bun.Glob('tests/**/*.bench.ts').scanSync('.')].toSorted()
const names = files.map((file) => /([^/]+)\.bench\.ts$/.exec(file)?.[1] ?? file)
const HELP = `bun run bench [NAME] [ARGUMENTS]

Runs a benchmark with its arguments, or all of them: ${names.join(', ')}.`
const [name, ...rest] = process.argv.slice(2)
// What follows a name is the benchmark's own.
if (name?.startsWith('-')) commandLine(HELP, {}, { args: [name] })
const chosen = files.filter((file) => name === undefined || file.endsWith(`/${name}.bench.ts`))
if (chosen.length === 0) refused(HELP, `No benchmark is named "${name}".`)
for (const file of chosen) {
  console.log(`\n${file}`)
  const child = Bun.spawn([process.execPath, file, ...rest], { stdout: 'inherit', stderr: 'inherit' })
  await child.exited
}
