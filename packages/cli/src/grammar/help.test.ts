import { hostProfiles } from '@unfold-mcp/core'
import { expect, test } from 'vitest'
import { widthOf } from '../text/width.ts'
import { generalHelp, verbHelp } from './help.ts'
import { verbs } from './verbs.ts'

test('all help fits the terminal; a flag that is too long for its column gets its own line', () => {
  const all = [generalHelp(80), ...Object.keys(verbs).map((name) => verbHelp(name, 80))]
  const long = all.flatMap((text) => text.split('\n')).filter((line) => widthOf(line) > 80)
  expect(long.filter((line) => !/^ {6}--from <[^>]*>$/u.test(line))).toEqual([])
  expect(verbHelp('serve', 80)).toMatch(/^ {6}--log-level <debug\|info\|warn\|error>\n {20,}Log level/mu)
})

test('the general help lists every command', () => {
  const help = generalHelp(80)
  for (const name of Object.keys(verbs)) expect(help).toMatch(new RegExp(`^ {2}${name} +\\S`, 'mu'))
})

test('the help of preview lists every known host', () => {
  expect(verbs.preview?.flags.host?.values).toEqual(hostProfiles.map(({ id }) => id))
  for (const { id } of hostProfiles) expect(verbHelp('preview', 80)).toContain(id)
})
