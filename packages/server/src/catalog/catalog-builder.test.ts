import { expect, test } from 'vitest'
import { testContext } from '../testing/index.ts'
import { defineToolbox } from '../toolbox.ts'

test('hosts that load tools themselves get hints if the author enables them', async () => {
  const box = defineToolbox({
    name: 'hub',
    version: '1.0.0',
    groups: { files: { description: 'Files' } },
    exposure: { hostHints: true },
  })
    .tool('read', { group: 'files', tags: ['text'] }, () => '')
    .tool('now', { always: true }, () => '')
    .tool('plain', {}, () => '')
  await using client = await testContext(box, { view: 'groups=files' })
  const meta = Object.fromEntries(client.tools().map(({ name, _meta }) => [name, _meta]))
  expect(meta).toMatchObject({
    activate_files: { 'anthropic/alwaysLoad': true },
    read: { 'anthropic/searchHint': expect.stringMatching(/^files text .*\bview\b/u) },
    now: { 'anthropic/alwaysLoad': true },
    plain: {},
  })
})
