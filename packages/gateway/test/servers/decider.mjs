// Makes trust decisions one after another, and prints each once it is acknowledged. Killed by the test at a random moment.
import { accept, block } from '../../dist/trust/records/record.js'
import { sqliteTrustStore } from '../../dist/trust/records/sqlite-store.js'

const [, , file, from] = process.argv
const store = await sqliteTrustStore(file)
for (let number = Number(from); ; number++) {
  const item = { kind: 'tool', name: `tool_${number}`, definition: { name: `tool_${number}`, description: `Number ${number}` } }
  const decide =
    number % 3 === 0 ? (record) => block(record, [item], number) : (record) => accept(record, [item], 'person', number)
  await store.update('server', decide)
  process.stdout.write(`${number}\n`)
}
