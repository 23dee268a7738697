import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ConfigProblem, problemLine } from './problem.ts'
import { readConfig } from './read.ts'
import { ConfigWatch, type WatchOptions } from './watch.ts'

const text = (...servers: readonly string[]): string =>
  JSON.stringify({ mcpServers: Object.fromEntries(servers.map((name) => [name, { command: name }])) })

let folder: string
let file: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unfold-watch-'))
  file = join(folder, 'unfold.json')
  await writeFile(file, text('a'))
})

afterEach(() => rm(folder, { recursive: true }))

/** A watcher and its reports so far; `next` waits for more. */
async function following(options: Partial<WatchOptions> = {}) {
  const reports: ({ servers: readonly string[] } | { problems: readonly ConfigProblem[] })[] = []
  let wake = (): void => undefined
  const report = (each: (typeof reports)[number]): void => {
    reports.push(each)
    wake()
  }
  const watch = new ConfigWatch(file, await readConfig(file, {}), {
    environment: {},
    changed: ({ config }) => report({ servers: Object.keys(config.mcpServers) }),
    invalid: (problems) => report({ problems }),
    settleMs: 20,
    ...options,
  })
  await watch.reload()
  return {
    watch,
    reports,
    async next(count: number): Promise<void> {
      while (reports.length < count)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    },
    [Symbol.dispose]: () => watch.close(),
  }
}

describe('a watched configuration', () => {
  test('is read again when it is overwritten', async () => {
    using following_ = await following()
    await writeFile(file, text('a', 'b'))
    await following_.next(1)
    expect(following_.reports).toEqual([{ servers: ['a', 'b'] }])
    expect(Object.keys(following_.watch.current.config.mcpServers)).toEqual(['a', 'b'])
  })

  test('is read again when another file replaces it, repeatedly', async () => {
    using following_ = await following()
    for (const [index, name] of ['b', 'c', 'd'].entries()) {
      await writeFile(`${file}.new`, text(name))
      await rename(`${file}.new`, file)
      await following_.next(index + 1)
    }
    expect(following_.reports).toEqual([{ servers: ['b'] }, { servers: ['c'] }, { servers: ['d'] }])
  })

  test('keeps the last valid configuration after an invalid edit, reports it once, and applies the next valid edit', async () => {
    using following_ = await following()
    await writeFile(file, '{ "mcpServers": { "a": { "comand": "x" } } }')
    await following_.next(1)
    await following_.watch.reload()
    await following_.watch.reload()
    expect(Object.keys(following_.watch.current.config.mcpServers)).toEqual(['a'])
    const [first] = following_.reports
    expect(first !== undefined && 'problems' in first ? first.problems.map(problemLine) : []).toEqual([
      `${file}:1:26: mcpServers.a.comand is not a known key. Did you mean "command"?`,
    ])
    await writeFile(file, text('a', 'z'))
    await following_.next(2)
    expect(following_.reports).toHaveLength(2)
    expect(following_.reports[1]).toEqual({ servers: ['a', 'z'] })
  })

  test('keeps the last valid configuration while the file is missing, reports it once, and applies the file when it is back', async () => {
    using following_ = await following({ pollMs: 30 })
    await rm(file)
    await following_.next(1)
    expect(following_.reports).toMatchObject([{ problems: [{ message: 'does not exist. Create it, or specify another file.' }] }])
    await following_.watch.reload()
    await writeFile(file, text('a', 'b'))
    await following_.next(2)
    expect(following_.reports).toHaveLength(2)
    expect(following_.reports[1]).toEqual({ servers: ['a', 'b'] })
  })

  test('ignores formatting, but reports a new order of servers, which is the order of lists', async () => {
    await writeFile(file, '{ "mcpServers": { "a": { "command": "a", "env": { "X": "1", "Y": "2" } }, "b": { "command": "b" } } }')
    using following_ = await following()
    const a = '"a": { "env": { "Y": "2", "X": "1" }, "start": "eager", "command": "a" }'
    await writeFile(
      file,
      `// nothing new\n{ "$schema": "x", "exposure": "auto", "mcpServers": { ${a}, "b": { "command": "b" } } }\n`,
    )
    await following_.watch.reload()
    expect(following_.reports).toEqual([])
    await writeFile(file, `{ "mcpServers": { "b": { "command": "b" }, ${a} } }`)
    await following_.watch.reload()
    expect(following_.reports).toEqual([{ servers: ['b', 'a'] }])
  })

  test('has no problems when the same file is restored, and reports again when it is missing again', async () => {
    let restored = 0
    using following_ = await following({ restored: () => void restored++ })
    for (const times of [1, 2]) {
      await rm(file)
      await following_.next(times)
      expect(following_.watch.problems).toMatchObject([{ message: 'does not exist. Create it, or specify another file.' }])
      await writeFile(file, text('a'))
      await following_.watch.reload()
      expect(following_.watch.problems).toEqual([])
      expect(restored).toBe(times)
    }
    expect(following_.reports).toHaveLength(2)
  })

  test('follows a symbolic link whose target is replaced', async () => {
    await mkdir(join(folder, 'one'))
    await mkdir(join(folder, 'two'))
    await writeFile(join(folder, 'one', 'real.json'), text('a'))
    await writeFile(join(folder, 'two', 'real.json'), text('a', 'b'))
    await rm(file)
    await symlink(join(folder, 'one'), join(folder, 'now'))
    await symlink(join(folder, 'now', 'real.json'), file)
    using following_ = await following({ pollMs: 30 })
    await symlink(join(folder, 'two'), join(folder, 'next'))
    await rename(join(folder, 'next'), join(folder, 'now'))
    await following_.next(1)
    expect(following_.reports).toEqual([{ servers: ['a', 'b'] }])
  })

  test('is read if its text changed between the first read and the watch', async () => {
    const before = await readConfig(file, {})
    await writeFile(file, text('a', 'b'))
    const found: string[] = []
    const watch = new ConfigWatch(file, before, {
      environment: {},
      changed: ({ config }) => found.push(...Object.keys(config.mcpServers)),
      invalid: () => undefined,
    })
    await watch.reload()
    watch.close()
    expect(found).toEqual(['a', 'b'])
  })

  test('that cannot be applied is reported, and the next edit is applied', async () => {
    let isBroken = true
    const reports: string[] = []
    let wake = (): void => undefined
    const report = (what: string): void => {
      reports.push(what)
      wake()
    }
    const watch = new ConfigWatch(file, await readConfig(file, {}), {
      environment: {},
      changed: ({ config }) => {
        if (isBroken) throw new Error('no room')
        report(Object.keys(config.mcpServers).join())
      },
      invalid: (problems) => report(problems.map(({ message }) => message).join()),
      settleMs: 20,
    })
    await watch.reload()
    for (const [name, expected] of [
      ['b', 'could not be applied: no room'],
      ['c', 'a,c'],
    ] as const) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve
      })
      await writeFile(`${file}.new`, text('a', name))
      await rename(`${file}.new`, file)
      await woken
      expect(reports.at(-1)).toBe(expected)
      isBroken = false
    }
    watch.close()
  })

  test('is not read after the watcher was closed', async () => {
    using following_ = await following()
    following_.watch.close()
    await writeFile(file, text('b'))
    await following_.watch.reload()
    expect(following_.reports).toEqual([])
  })
})
