import { describe, expect, test } from 'vitest'
import { typescriptArgs } from './typescript.ts'

const node = (typescript: unknown, ...flags: readonly string[]) =>
  typescriptArgs({ features: { ...process.features, typescript } as never, allowedNodeEnvironmentFlags: new Set(flags) })

describe('TypeScript', () => {
  test('needs no flag where Node strips types by default', () => {
    expect(node('strip', '--experimental-strip-types')).toEqual([])
  })

  test('needs a flag where Node does not strip types by default', () => {
    expect(node(false, '--experimental-strip-types')).toEqual(['--experimental-strip-types'])
    expect(node(undefined, '--experimental-strip-types')).toEqual(['--experimental-strip-types'])
  })

  test('cannot run where Node does not support it', () => {
    expect(node(undefined)).toBeUndefined()
  })
})
