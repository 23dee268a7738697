import { describe, expect, test } from 'vitest'
import { defineToolbox } from '../toolbox.ts'
import { renderView } from './rendered-view.ts'

function entriesOf(abouts: readonly string[]) {
  const box = defineToolbox({ name: 'box', version: '1.0.0' })
  for (const [index, about] of abouts.entries()) box.tool(`tool_${index}`, { about }, () => 'done')
  return box.entries()
}

describe('the encoded list of a view', () => {
  test.each([
    ['nothing', []],
    ['one tool', ['Read a file']],
    ['text beyond ASCII', ['Liest „alles“ 🗂', 'Read a file']],
  ])('of %s is the JSON of its tools', (_, abouts) => {
    const { bytes, tools } = renderView(entriesOf(abouts))
    expect(new TextDecoder().decode(bytes)).toBe(JSON.stringify(tools))
  })

  test('is made once', () => {
    const shown = renderView(entriesOf(['Read a file']))
    expect(shown.bytes).toBe(shown.bytes)
  })
})
