import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { home, servers } from './command.ts'

test('server-everything: all tools can be called', async () => {
  await using at = await home()
  const called = async (...args: readonly string[]) => {
    const { code, stdout } = await at.unfold(['call', ...args, '--json', '--', ...servers.everything])
    return { code, ...(stdout === '' ? {} : JSON.parse(stdout)) }
  }
  expect(await called('echo', '--message', 'hi')).toMatchObject({ code: 0, content: [{ text: 'Echo: hi' }] })
  expect(await called('get-sum', '--a', '2', '--b', '40')).toMatchObject({ content: [{ text: 'The sum of 2 and 40 is 42.' }] })
  expect(await called('get-structured-content', '--location', 'Chicago')).toMatchObject({
    structuredContent: { temperature: expect.any(Number) },
  })
  expect(await called('get-tiny-image')).toMatchObject({
    content: expect.arrayContaining([expect.objectContaining({ type: 'image' })]),
  })
  expect((await called('get-structured-content', '--location', 'Paris')).code).toBe(2)
  const progress = await at.unfold([
    'call',
    'trigger-long-running-operation',
    '--duration',
    '1',
    '--steps',
    '3',
    '--',
    ...servers.everything,
  ])
  expect(progress.stderr).toContain('(1/3)')
})

test('server-everything: --answer answers elicitations', async () => {
  await using at = await home()
  const { code, stdout } = await at.unfold([
    'call',
    'trigger-elicitation-request',
    '--answer',
    'name=Ada',
    '--answer',
    'check=true',
    '--',
    ...servers.everything,
  ])
  expect(code).toBe(0)
  expect(stdout).toContain('Ada')
})

test('server-filesystem: lists, reads and writes files', async () => {
  await using at = await home()
  await writeFile(join(at.folder, 'note.txt'), 'remember')
  const files = ['--', ...servers.files(at.folder)]
  const read = await at.unfold(['call', 'read_text_file', '--path', join(at.folder, 'note.txt'), ...files])
  expect(read).toMatchObject({ code: 0, stdout: 'remember\n' })
  const edited = await at.unfold([
    'call',
    'edit_file',
    '--path',
    join(at.folder, 'note.txt'),
    'edits:=[{"oldText":"remember","newText":"forget"}]',
    ...files,
  ])
  expect(edited.stdout).toContain('+forget')
  const refused = await at.unfold(['call', 'read_text_file', '--path', '/etc/hostname', ...files])
  expect(refused.code).toBe(5)
})

test('server-memory: nested lists are passed as JSON', async () => {
  await using at = await home()
  const env = ['--env', `MEMORY_FILE_PATH=${join(at.folder, 'memory.jsonl')}`]
  const entity = '{"name":"Ada","entityType":"person","observations":["counts"]}'
  const made = await at.unfold(['call', 'create_entities', '--entities', entity, ...env, '--', ...servers.memory])
  expect(made.code).toBe(0)
  const found = await at.unfold(['call', 'search_nodes', '--query', 'Ada', '--json', ...env, '--', ...servers.memory])
  expect(JSON.parse(found.stdout).content[0].text).toContain('counts')
})

test('server-sequential-thinking: integers and switches are converted by the schema', async () => {
  await using at = await home()
  const args = [
    'call',
    'sequentialthinking',
    '--thought',
    '012',
    '--thoughtNumber',
    '1',
    '--totalThoughts',
    '2',
    '--nextThoughtNeeded',
    'true',
  ]
  const { code, stdout } = await at.unfold([...args, '--', ...servers.thinking])
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ thoughtNumber: 1, totalThoughts: 2, nextThoughtNeeded: true })
})

test('the computed identity of a server without identity support is stable', async () => {
  await using at = await home()
  const first = await at.unfold(['identity', '--json', '--', ...servers.everything])
  const { server_id: id, by } = JSON.parse(first.stdout)
  expect(by).toBe('client')
  expect((await at.unfold(['identity', '--expect', id, '--no-cache', '--', ...servers.everything])).code).toBe(0)
})
