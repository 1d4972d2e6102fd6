// `bun run bench [name] [arguments]`: runs tests/**/<name>.bench.ts, all of them without a name. Benchmarks print; they
// never fail, since a busy machine is no bug.
import process from 'node:process'

const [name, ...rest] = process.argv.slice(2)
const files = [...new Bun.Glob('tests/**/*.bench.ts').scanSync('.')].toSorted()
const chosen = files.filter((file) => name === undefined || file.endsWith(`/${name}.bench.ts`))
if (chosen.length === 0) {
  const names = files.map((file) => /([^/]+)\.bench\.ts$/.exec(file)?.[1] ?? file)
  console.error(`No benchmark is named ${name ?? ''}. There are: ${names.join(', ')}.`)
  process.exit(1)
}
for (const file of chosen) {
  console.log(`\n${file}`)
  const child = Bun.spawn([process.execPath, file, ...rest], { stdout: 'inherit', stderr: 'inherit' })
  await child.exited
}
