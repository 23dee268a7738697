import { expect, test } from 'vitest'

interface Rules {
  readonly [name: string]: {
    readonly uses: readonly string[]
    readonly folders: { readonly [folder: string]: { readonly holds: string; readonly uses: readonly string[] } }
  }
}
type Files = { readonly [path: string]: string }

const {
  rendered,
  sources,
  violations,
}: {
  rendered: (rules: Rules) => string
  sources: () => Files
  violations: (rules: Rules, files: Files) => readonly string[]
} = await import(new URL('../../scripts/architecture.mjs', import.meta.url).href)

const rules = {
  core: { uses: [], folders: { base: { holds: 'values', uses: [] }, tool: { holds: 'tools', uses: ['base'] } } },
  server: { uses: ['core'], folders: { view: { holds: 'views', uses: [] } } },
}

test('an import that the rules allow is accepted, and every other import is reported with its file', () => {
  expect(
    violations(rules, { 'core/src/tool/entry.ts': "import { a } from '../base/a.ts'\nexport type { B } from './b.ts'" }),
  ).toEqual([])
  const found = violations(rules, {
    'core/src/base/a.ts': "import type { Entry } from '../tool/entry.ts'\nawait import('../tool/lazy.ts')",
    'core/src/tool/c.ts': "export {\n  x,\n} from '@unfold-mcp/server'",
    'core/src/other/d.ts': '',
    'server/src/view/v.ts': "import { z } from '@unfold-mcp/core'",
  })
  expect(found).toEqual([
    'core/src/base/a.ts: base may not import tool (../tool/entry.ts)',
    'core/src/base/a.ts: base may not import tool (../tool/lazy.ts)',
    'core/src/tool/c.ts: the package core may not import @unfold-mcp/server',
    'core/src/other/d.ts: the folder core/src/other is missing in packages/architecture.json',
  ])
})

test('rules that would allow a cycle are reported', () => {
  const cyclic = { core: { uses: [], folders: { a: { holds: '', uses: ['b'] }, b: { holds: '', uses: ['a'] } } } }
  expect(violations(cyclic, {})).toEqual(['core/src/a uses b, which is not listed before it in packages/architecture.json'])
})

test('a folder with too many files at one level is reported', () => {
  const files = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`core/src/base/f${index}.ts`, '']))
  expect(violations(rules, files)).toEqual(['core/src/base has 17 files at one level (limit: 16): split it'])
})

test('the tables name every folder, and the repository has sources to check', () => {
  expect(rendered(rules)).toContain('| `tool/` | tools  | base       |')
  expect(Object.keys(sources()).length).toBeGreaterThan(400)
})
