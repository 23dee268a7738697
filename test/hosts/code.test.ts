import { expect } from 'vitest'
import { scriptAgent } from '../../bench/src/hosts/agents/script.ts'
import { path, tryWish, wishes } from '../../bench/src/hosts/lab.ts'
import { lastTexts } from './received.ts'
import { scenario } from './scenario.ts'

const code = `const texts: string[] = []
for (const path of ['${path}', '${path}']) texts.push(JSON.stringify(await tools.files.read_text_file({ path })))
return { same: texts[0] === texts[1], length: texts.length, first: texts[0] }`

// The tools of the lab are not annotated, and no user is present.
const config = { exposure: 'code', code: { confirm: 'never' } }

scenario('exposure code', async (driver) => {
  const { outcome, run } = await tryWish(driver, wishes.read, { config }, () => scriptAgent(code))
  expect(outcome).toMatchObject({ reached: true })
  const result = lastTexts(run).join('\n')
  expect(result).toContain('same')
  expect(result).toContain(wishes.read.expect)
})
