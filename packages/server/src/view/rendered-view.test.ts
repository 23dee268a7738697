import { describe, expect, test } from 'vitest'
import { defineToolbox } from '../toolbox.ts'
import { renderView } from './rendered-view.ts'

function entriesOf(descriptions: readonly string[]) {
  const box = defineToolbox({ name: 'box', version: '1.0.0' })
  for (const [index, description] of descriptions.entries()) box.tool(`tool_${index}`, { description }, () => 'done')
  return box.entries()
}

describe('the encoded list of a view', () => {
  test.each([
    ['nothing', []],
    ['one tool', ['Read a file']],
    ['text beyond ASCII', ['Liest „alles“ 🗂', 'Read a file']],
  ])('of %s is the JSON of its tools', (_, descriptions) => {
    const { bytes, tools } = renderView(entriesOf(descriptions))
    expect(new TextDecoder().decode(bytes)).toBe(JSON.stringify(tools))
  })

  test('is encoded once', () => {
    const shown = renderView(entriesOf(['Read a file']))
    expect(shown.bytes).toBe(shown.bytes)
  })
})
