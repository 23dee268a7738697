import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { action, audit, connection, frame, log, request, snapshot } from '../../test/samples.ts'
import { kinds } from '../records/records.ts'
import { Redactor } from '../redaction/redaction.ts'
import { Baselines } from './baselines.ts'
import { Recording } from './recording.ts'
import { listSessions, loadSession, maxBytes, saveSession } from './session-store.ts'

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'unfold-sessions-'))
  onTestFinished(() => rm(made, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))
  return join(made, 'browser', 'sessions')
}

const fresh = (patterns: readonly { name: string; pattern: string }[] = []): Recording =>
  new Recording({ redactor: new Redactor({ patterns }) })

function filled(): Recording {
  const recording = fresh()
  recording.add('logs', log({ level: 'error', stack: 'at a (b.js:1:1)', source: { url: 'https://h/b.js', line: 1, column: 1 } }))
  recording.add('network', request({ requestBody: { mimeType: 'text/plain', bytes: 2, text: 'hi', cut: true }, failure: 'gone' }))
  recording.add('sockets', frame({ encoding: 'base64', text: 'AAE=' }))
  recording.add('actions', action({ action: 'input', value: 'Ann', pageUrl: 'https://shop.example/' }))
  recording.add('actions', action({ action: 'scroll', scroll: { x: 0, y: 200 } }))
  recording.add('snapshots', snapshot({ inp: 40 }))
  recording.add('audits', audit())
  recording.add('logs', log({ text: 'lone \ud800 and \u202e' }))
  recording.connection(connection({ state: 'closed', closedAt: 5, closedBecause: '1000' }))
  return recording
}

const contents = (recording: Recording): unknown => [
  ...kinds.map((kind) => [...recording.of(kind)]),
  recording.connections(),
  recording.facts.read(),
]

const baselinesOf = (): Baselines => {
  const baselines = new Baselines()
  baselines.set({ seq: 6, ...snapshot() })
  return baselines
}

describe('a session', () => {
  test('survives saving and loading, and the recording continues after it', async () => {
    const directory = await folder()
    const recording = filled()
    const saved = await saveSession(recording, baselinesOf(), { directory, name: 'monday', now: () => Date.UTC(2026, 0, 31) })
    expect(saved).toMatchObject({ path: join(directory, 'monday.json'), leftOut: 0 })
    const other = fresh()
    const baselines = new Baselines()
    other.add('logs', log({ text: 'goes away' }))
    expect(await loadSession(other, baselines, { directory, name: 'monday' })).toEqual({
      savedAt: '2026-01-31T00:00:00.000Z',
      records: 8,
    })
    expect(contents(other)).toEqual(contents(recording))
    expect(baselines.entries()).toEqual(baselinesOf().entries())
    expect(other.add('logs', log())?.seq).toBe(9)
  })

  test('is a documented file that only its owner may read', async () => {
    const directory = await folder()
    const { path, bytes } = await saveSession(filled(), baselinesOf(), { directory, name: 'a' })
    const text = await readFile(path, 'utf8')
    expect(Buffer.byteLength(text)).toBe(bytes)
    const file = JSON.parse(text)
    expect(Object.keys(file)).toEqual(['format', 'version', 'savedAt', 'records', 'connections', 'baselines'])
    expect(file).toMatchObject({ format: 'unfold-browser-session', version: 1 })
    expect(Object.keys(file.records)).toEqual(kinds)
    if (process.platform === 'win32') return
    expect((await lstat(path)).mode & 0o777).toBe(0o600)
    expect((await lstat(directory)).mode & 0o777).toBe(0o700)
  })

  test('replaces the one of the same name atomically, and leaves no temporary files', async () => {
    const directory = await folder()
    await saveSession(filled(), baselinesOf(), { directory, name: 'a' })
    const small = fresh()
    small.add('logs', log())
    await saveSession(small, new Baselines(), { directory, name: 'a' })
    expect(await readdir(directory)).toEqual(['a.json'])
    const other = fresh()
    await loadSession(other, new Baselines(), { directory, name: 'a' })
    expect(contents(other)).toEqual(contents(small))
  })

  test('is redacted with the current rules when it is loaded', async () => {
    const directory = await folder()
    const recording = fresh()
    recording.add('logs', log({ text: 'customer ACME-123' }))
    recording.add('actions', action({ action: 'input', value: 'ACME-123' }))
    await saveSession(
      recording,
      { entries: () => [{ seq: 1, ...snapshot({ url: 'https://h/ACME-123' }) }] },
      { directory, name: 'a' },
    )
    // As if saved by an older version with fewer rules.
    const path = join(directory, 'a.json')
    await writeFile(path, (await readFile(path, 'utf8')).replace('customer ', 'password=k1 '))
    const other = fresh([{ name: 'customer', pattern: 'ACME-\\d+' }])
    const baselines = new Baselines()
    await loadSession(other, baselines, { directory, name: 'a' })
    expect(JSON.stringify([contents(other), baselines.entries()])).not.toMatch(/ACME|k1/)
  })

  test('is restored without open WebSockets', async () => {
    const directory = await folder()
    const recording = fresh()
    recording.connection(connection({ state: 'open' }))
    await saveSession(recording, new Baselines(), { directory, name: 'a' })
    const other = fresh()
    await loadSession(other, new Baselines(), { directory, name: 'a' })
    expect(other.connections()).toMatchObject([
      { id: 'socket-1', state: 'closed', closedBecause: 'Open when the session was saved.' },
    ])
  })

  test('omits invalid records and reports their number', async () => {
    const directory = await folder()
    const recording = fresh()
    recording.add('snapshots', snapshot({ lcp: Number.NaN }))
    recording.add('snapshots', snapshot())
    expect(await saveSession(recording, new Baselines(), { directory, name: 'a' })).toMatchObject({ leftOut: 1 })
    const other = fresh()
    await loadSession(other, new Baselines(), { directory, name: 'a' })
    expect(other.of('snapshots').length).toBe(1)
  })

  test('that is too large is not written', async () => {
    const directory = await folder()
    const huge = { entries: 1_000, bytes: 1_000_000_000 }
    const recording = new Recording({ redactor: new Redactor(), limits: { network: huge } })
    const text = ' '.repeat(8 * 1024 * 1024)
    for (let i = 0; i < 9; i++)
      recording.add('network', request({ responseBody: { mimeType: 'text/plain', bytes: text.length, text } }))
    await expect(saveSession(recording, new Baselines(), { directory, name: 'a' })).rejects.toThrow(
      'exceeds the maximum session size (64 MB)',
    )
    expect(await listSessions(directory)).toEqual([])
  })
})

describe('the list of sessions', () => {
  test('is empty without a folder', async () => {
    expect(await listSessions(await folder())).toEqual([])
  })

  test('contains only sessions', async () => {
    const directory = await folder()
    await saveSession(filled(), new Baselines(), { directory, name: 'a.b-c_1' })
    await writeFile(join(directory, 'notes.txt'), '')
    await writeFile(join(directory, 'Upper.json'), '{}')
    await mkdir(join(directory, 'folder.json'))
    await symlink('/etc/hosts', join(directory, 'link.json'))
    const listed = await listSessions(directory)
    expect(listed.map(({ name }) => name)).toEqual(['a.b-c_1'])
    expect(listed[0]?.bytes).toBeGreaterThan(100)
    expect(Date.parse(listed[0]?.savedAt ?? '')).not.toBeNaN()
  })
})

describe('a name', () => {
  test.each(['', '..', '.hidden', '../up', 'a/b', 'a\\b', 'A', 'a b', 'a\u0000', 'x'.repeat(65), '-a', 'ä', 'a\n'])(
    '%j is rejected',
    async (name) => {
      const directory = await folder()
      await expect(saveSession(filled(), new Baselines(), { directory, name })).rejects.toThrow(
        "cannot be a session's name. Use 1 to 64",
      )
      await expect(loadSession(fresh(), new Baselines(), { directory, name })).rejects.toThrow("cannot be a session's name.")
      expect(await listSessions(directory)).toEqual([])
    },
  )
})

describe('an invalid session changes nothing', () => {
  /** Tries to load a file, and checks that nothing changed. */
  async function refusal(write: (path: string) => Promise<unknown>): Promise<string> {
    const directory = await folder()
    await mkdir(directory, { recursive: true })
    await write(join(directory, 'a.json'))
    const recording = filled()
    const baselines = baselinesOf()
    const before = JSON.stringify([contents(recording), baselines.entries(), recording.seq])
    const error: unknown = await loadSession(recording, baselines, { directory, name: 'a' }).catch((thrown: unknown) => thrown)
    expect(JSON.stringify([contents(recording), baselines.entries(), recording.seq])).toBe(before)
    return error instanceof Error ? error.message : 'was loaded'
  }

  /** Loads a saved session with one value replaced; `undefined` removes it. */
  const changed = (place: string, value: unknown): Promise<string> =>
    refusal(async (path) => {
      await saveSession(filled(), baselinesOf(), { directory: join(path, '..'), name: 'a' })
      const file: unknown = JSON.parse(await readFile(path, 'utf8'))
      const names = place.split('.')
      const around = names.slice(0, -1).reduce((within, name) => Reflect.get(Object(within), name), file)
      // Unlike an assignment, this also creates an own property `__proto__`.
      Object.defineProperty(around, names.at(-1) ?? '', { value, enumerable: value !== undefined, configurable: true })
      await writeFile(path, JSON.stringify(file))
    })

  test('a missing session is reported with the existing ones', async () => {
    const directory = await folder()
    await expect(loadSession(fresh(), new Baselines(), { directory, name: 'a' })).rejects.toThrow(
      'Unknown session "a". No session is saved.',
    )
    await saveSession(filled(), new Baselines(), { directory, name: 'b' })
    await expect(loadSession(fresh(), new Baselines(), { directory, name: 'a' })).rejects.toThrow(
      'Unknown session "a". Saved sessions: b.',
    )
  })

  test('a file without JSON, or with truncated JSON', async () => {
    expect(await refusal((path) => writeFile(path, 'not json \u202e'))).toMatch(
      /^The session "a" \(.*\) is damaged: invalid JSON\. Nothing was loaded\.$/,
    )
    expect(await refusal((path) => writeFile(path, ''))).toContain('invalid JSON')
    const cut = await refusal(async (path) => {
      await saveSession(filled(), baselinesOf(), { directory: join(path, '..'), name: 'a' })
      const text = await readFile(path, 'utf8')
      await writeFile(path, text.slice(0, text.length / 2))
    })
    expect(cut).toContain('invalid JSON')
  })

  test.each(['null', '5', '"x"', '[]', '{}', '{"format":"har","version":1}'])('a file of another format: %s', async (text) => {
    expect(await refusal((path) => writeFile(path, text))).toContain('is not a session of this program')
  })

  test('a session of a newer version', async () => {
    expect(await changed('version', 2)).toContain(
      'was saved by a newer version of this program: its format is 2, and up to 1 can be read. Update this program.',
    )
  })

  test.each([
    ['an unknown field', 'extra', 1, 'Unrecognized key'],
    ['no records', 'records', undefined, '"records" is invalid'],
    ['an old version', 'version', 0, '"version" is invalid'],
    ['a wrong time', 'savedAt', 'monday', '"savedAt" is invalid'],
    ['a kind too few', 'records.audits', undefined, '"records.audits" is invalid'],
    ['an invalid text', 'records.logs.0.text', 5, '"records.logs.0.text" is invalid'],
    ['an invalid level', 'records.logs.1.level', 'fatal', '"records.logs.1.level" is invalid'],
    ['a field of a record too many', 'records.network.0.extra', 1, '"records.network.0" is invalid'],
    ['a place twice', 'records.actions.1.seq', 4, '"records.actions.1.seq" is invalid'],
    ['a place beyond counting', 'records.audits.0.seq', 2 ** 53, '"records.audits.0.seq" is invalid'],
    ['a prototype', 'records.logs.0.__proto__', { admin: true }, '"records.logs.0" is invalid'],
    ['an invalid WebSocket', 'connections.0.state', 'maybe', '"connections.0.state" is invalid'],
    ['an invalid baseline', 'baselines.0', {}, '"baselines.0.seq" is invalid'],
    ['null for what may be absent', 'records.logs.0.stack', null, '"records.logs.0.stack" is invalid'],
    ['an invalid header', 'records.network.0.requestHeaders', [['a', 'b']], '"records.network.0.requestHeaders.0" is invalid'],
  ])('a session with %s', async (_, place, value, problem) => {
    const message = await changed(place, value)
    expect(message).toMatch(/^The session "a" \(.*\) is damaged: .* Nothing was loaded\.$/)
    expect(message).toContain(problem)
  })

  test('a file that is too large is not read', async () => {
    const message = await refusal(async (path) => {
      await writeFile(path, '')
      await truncate(path, maxBytes + 1)
    })
    expect(message).toContain(`has ${maxBytes + 1} bytes, more than the ${maxBytes} that are read`)
  })

  test('a link to another file, a folder, or a folder that is a link', async () => {
    expect(await refusal((path) => symlink('/etc/hosts', path))).toContain('is a link or a folder, not a regular file')
    expect(await refusal((path) => mkdir(path))).toContain('is a link or a folder, not a regular file')
    const directory = await folder()
    await saveSession(filled(), new Baselines(), { directory, name: 'a' })
    const linked = join(directory, '..', 'linked')
    await symlink(directory, linked)
    await expect(loadSession(fresh(), new Baselines(), { directory: linked, name: 'a' })).rejects.toThrow(
      'Sessions are stored only in a real folder.',
    )
    await expect(saveSession(filled(), new Baselines(), { directory: linked, name: 'b' })).rejects.toThrow(
      'only in a real folder',
    )
    await expect(listSessions(linked)).rejects.toThrow('only in a real folder')
  })

  test('a symbolic link is not written through either', async () => {
    const directory = await folder()
    await mkdir(directory, { recursive: true })
    const target = join(directory, '..', 'target.txt')
    await writeFile(target, 'mine')
    await symlink(target, join(directory, 'a.json'))
    await expect(saveSession(filled(), new Baselines(), { directory, name: 'a' })).rejects.toThrow('neither read nor written')
    expect(await readFile(target, 'utf8')).toBe('mine')
  })

  test('a folder that cannot be created is reported by name', async () => {
    const directory = await folder()
    await mkdir(join(directory, '..'), { recursive: true })
    await writeFile(directory, 'a file')
    await expect(saveSession(filled(), new Baselines(), { directory: join(directory, 'below'), name: 'a' })).rejects.toThrow(
      /sessions.below cannot be (?:created|accessed) \(ENOTDIR\)\. Check the folder and its permissions\./,
    )
    await expect(saveSession(filled(), new Baselines(), { directory, name: 'a' })).rejects.toThrow('only in a real folder')
  })

  // Permissions do not restrict root.
  test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
    'a folder that is not writable is reported by name',
    async () => {
      const directory = await folder()
      await mkdir(directory, { recursive: true })
      await chmod(directory, 0o500)
      await expect(saveSession(filled(), new Baselines(), { directory, name: 'a' })).rejects.toThrow('cannot be written (EACCES)')
    },
  )
})
