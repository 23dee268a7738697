import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test, vi } from 'vitest'
import { pluginFolderServer } from '../src/plugin-folder/server.ts'
import { connected, eras } from './connected.ts'

const ours = fileURLToPath(new URL('../src/plugin-folder/plugins/', import.meta.url))

/** Serves a copy of the example's plugins, in a folder where they can import the packages. */
async function copied(era: (typeof eras)[number]) {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const folder = await mkdtemp(join(fileURLToPath(new URL('../../node_modules/', import.meta.url)), '.plugins-'))
  await cp(ours, folder, { recursive: true })
  const { toolbox, plugins } = pluginFolderServer(folder)
  await plugins.ready()
  const session = await connected(toolbox, { era })
  return {
    folder,
    session,
    async [Symbol.asyncDispose]() {
      await session[Symbol.asyncDispose]()
      await plugins.close()
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    },
  }
}

describe.each(eras)('a folder of plugins (%s)', (era) => {
  test('provides the tools of its modules and manifests', async () => {
    await using served = await copied(era)
    const { session } = served
    expect(await session.toolNames()).toEqual(['list_plugins', 'checksum', 'verify_checksum', 'roll_dice', 'pick_one'])
    const rolled = await session.data<{ rolls: number[]; total: number }>('roll_dice', { dice: '3d6+2' })
    expect(rolled.rolls).toHaveLength(3)
    expect(rolled.total).toBe(rolled.rolls.reduce((sum, roll) => sum + roll, 2))
    expect(await session.text('pick_one', { of: ['tea'] })).toBe('tea')
    const sum = await session.text('checksum', { text: 'abc' })
    expect(sum).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(await session.data('verify_checksum', { text: 'abc', checksum: sum })).toEqual({ matches: true, algorithm: 'sha256' })
    expect(await session.data('verify_checksum', { text: 'abd', checksum: sum })).toMatchObject({ matches: false })
  })

  test('reports invalid arguments', async () => {
    await using served = await copied(era)
    await expect(served.session.text('roll_dice', { dice: 'two' })).rejects.toThrow('Invalid dice "two". Examples: 2d6, d20+1.')
    await expect(served.session.text('verify_checksum', { text: '', checksum: '12' })).rejects.toThrow(
      'Invalid checksum: expected 32, 64 or 128',
    )
  })

  test('lists its plugins, and the error of a broken one', async () => {
    await using served = await copied(era)
    await writeFile(join(served.folder, 'half.mjs'), 'export default')
    await expect
      .poll(() => served.session.data<{ plugins: { file: string }[] }>('list_plugins'), { timeout: 120_000 })
      .toMatchObject({
        plugins: [
          { file: 'checksum/', name: 'checksum', state: 'running', tools: ['checksum', 'verify_checksum'] },
          { file: 'dice.mjs', name: 'dice', state: 'running', tools: ['roll_dice', 'pick_one'] },
          { file: 'half.mjs', state: 'failed', problem: expect.stringContaining('was not loaded') },
        ],
      })
  })
})
