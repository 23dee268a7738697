import { describe, expect, test } from 'vitest'
import { careless } from './careless.ts'
import { callTool, textOf } from './sender.ts'

const textFrom = async (port: number, name: string, args: object = {}): Promise<string> =>
  textOf((await callTool(port, name, args))?.messages[0])

const rows = (count: number): object => ({ rows: Array.from({ length: count }, (_, id) => ({ id, name: `row ${id}` })) })

/** A nested expression. */
function nested(depth: number): object {
  return depth === 0 ? { kind: 'and' } : { kind: 'and', left: nested(depth - 1) }
}

describe('AT-R11: arguments that are expensive to validate', () => {
  test('AT-R11-1: 24,000 unique objects are validated in linear time', { timeout: 300_000 }, async () => {
    await using server = await careless('listen')
    expect(await textFrom(server.port, 'store', rows(24_000))).toBe('24000')
    // Comparing all pairs takes 26 s of CPU time.
    expect(Number(await textFrom(server.port, 'cpu'))).toBeLessThan(10_000)
    const twice = { rows: [{ a: 1, b: 2 }, {}, { b: 2, a: 1 }] }
    expect(await textFrom(server.port, 'store', twice)).toContain(
      'must NOT have duplicate items (items ## 0 and 2 are identical)',
    )
  })

  test('AT-R11-2: alternatives in alternatives are rejected before the validator runs', async () => {
    await using server = await careless('listen')
    expect(await textFrom(server.port, 'filter', { tree: nested(6) })).toBe('filtered')
    const refusal = await textFrom(server.port, 'filter', { tree: nested(60) })
    expect(refusal).toMatch(
      /^Invalid arguments for filter:\n- tree\.left\.left.*: validating this takes more than 1,000,000 steps/u,
    )
    expect(refusal).toContain('Send fewer elements at once, or nest them less')
    expect(await textFrom(server.port, 'ping')).toBe('pong')
  })

  test('AT-R11-3: so is such a result, as a mistake of the author', async () => {
    await using server = await careless('listen')
    expect(await textFrom(server.port, 'deep')).toMatch(
      /^Tool "deep" returned an invalid result: tree\.left.*validating this takes more than/u,
    )
  })

  test('AT-R11-4: an adopted server does not get arguments that its validator would compare pair by pair', async () => {
    await using server = await careless('adopt')
    expect(await textFrom(server.port, 'store', rows(500))).toBe('500')
    expect(await textFrom(server.port, 'store', rows(24_000))).toMatch(
      /^Invalid arguments for store:\n- rows: validating this takes more than 1,000,000 steps, most of them for "uniqueItems"/u,
    )
  })
})

describe('AT-R11: a promise that a handler forgets', () => {
  test.each(['serve', 'listen'])('AT-R11-5: is reported with its tool when it rejects, and %s keeps serving', async (how) => {
    await using server = await careless(how)
    expect(await textFrom(server.port, 'forget')).toBe('started')
    await server.prints(/^\[unfold\] tool_failed: Unhandled rejection of tool "forget": .*\n/mu)
    const line = server
      .output()
      .split('\n')
      .find((each) => each.includes('"forget"'))
    await expect(`${line}\n`).toMatchFileSnapshot('../../docs/examples/output/unhandled-rejection.txt')
    expect(await textFrom(server.port, 'forget_anything')).toBe('started')
    await server.prints('Unhandled rejection of tool "forget_anything": no message.')
    expect(await textFrom(server.port, 'ping')).toBe('pong')
  })

  test('AT-R11-6: serve, which owns the process, also reports rejections outside of handlers', async () => {
    await using server = await careless('serve')
    await textFrom(server.port, 'reject_outside')
    await server.prints('[unfold] internal_error: Unhandled rejection: rejected outside of a handler.')
    expect(await textFrom(server.port, 'ping')).toBe('pong')
  })

  test('AT-R11-7: listen leaves rejections outside of handlers to Node, which ends the program', async () => {
    await using server = await careless('listen')
    await textFrom(server.port, 'reject_outside')
    expect(await server.exited).toBe(1)
    expect(server.output()).toContain('Error: rejected outside of a handler')
  })

  test.each([
    ['serve', '--off'],
    ['listen', '--off'],
  ])('AT-R11-8: with reportRejections: false, %s leaves it to Node', async (...args) => {
    await using server = await careless(...args)
    await textFrom(server.port, 'forget')
    expect(await server.exited).toBe(1)
    expect(server.output()).toContain('Error: not awaited')
  })

  test('AT-R11-9: a program with its own listener keeps its own behaviour', async () => {
    await using server = await careless('serve', '--own-listener')
    await textFrom(server.port, 'forget')
    await server.prints("The program's own listener: not awaited")
    expect(server.output()).not.toContain('[unfold]')
    expect(await textFrom(server.port, 'ping')).toBe('pong')
  })

  test('AT-R11-10: an uncaught exception still ends the program', async () => {
    await using server = await careless('serve')
    await textFrom(server.port, 'throw_later')
    expect(await server.exited).not.toBe(0)
    expect(server.output()).toContain('Error: thrown by a timer')
  })
})
