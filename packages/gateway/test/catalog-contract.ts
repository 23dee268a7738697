import type { Tool } from '@unfold-mcp/core'
import { describe, expect, test } from 'vitest'
import type { CatalogStore } from '../src/stores/catalog.ts'

export const tool = (name: string, description = `Does ${name}`): Tool => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
})

/** The contract of every driver. */
export function catalogContract(driver: string, open: () => Promise<CatalogStore>): void {
  describe(`${driver} as a catalog store`, () => {
    test('returns the tools of each upstream, in their original order', async () => {
      await using store = await open()
      await store.replaceTools('git', [tool('log'), tool('add')])
      await store.replaceTools('web', [tool('get')])
      expect(await store.tools('git')).toEqual([tool('log'), tool('add')])
      expect(await store.tools('web')).toEqual([tool('get')])
      expect(await store.upstreams()).toEqual(['git', 'web'])
    })

    test('replacing removes missing tools', async () => {
      await using store = await open()
      await store.replaceTools('git', [tool('log'), tool('add')])
      await store.replaceTools('git', [tool('add', 'Adds')])
      expect(await store.tools('git')).toEqual([tool('add', 'Adds')])
    })

    test('an upstream without tools is known, an unknown one is not', async () => {
      await using store = await open()
      await store.replaceTools('git', [])
      expect(await store.load('git')).toEqual({ tools: [] })
      expect(await store.load('web')).toBeUndefined()
      expect(await store.tools('web')).toEqual([])
    })

    test('the self-description of an upstream is stored with its tools, and replaced with them', async () => {
      await using store = await open()
      await store.replaceTools('git', [tool('log')], { instructions: 'For version control.' })
      expect(await store.load('git')).toEqual({ tools: [tool('log')], instructions: 'For version control.' })
      const info = {
        name: 'git',
        version: '2.0.0',
        title: 'Git',
        description: 'Version control',
        websiteUrl: 'https://git.example',
      }
      await store.replaceTools('git', [tool('log')], { instructions: 'For version control.', info })
      expect(await store.load('git')).toEqual({ tools: [tool('log')], instructions: 'For version control.', info })
      await store.replaceTools('git', [tool('log')])
      expect(await store.load('git')).toEqual({ tools: [tool('log')] })
    })

    test('prompts and resources of an upstream are stored separately from its tools, replaced, and deleted with it', async () => {
      await using store = await open()
      await store.replaceTools('git', [tool('log')])
      expect(await store.documents('git')).toBeUndefined()
      await store.replaceDocuments('git', { prompts: [{ name: 'a\0b' }] })
      await store.replaceDocuments('git', { prompts: [{ name: '日本' }] })
      await store.replaceTools('git', [])
      expect(await store.documents('git')).toEqual({ prompts: [{ name: '日本' }] })
      expect(await store.documents('web')).toBeUndefined()
      await store.remove('git')
      expect(await store.documents('git')).toBeUndefined()
    })

    test('a removed upstream is unknown, and removing it again has no effect', async () => {
      await using store = await open()
      await store.replaceTools('git', [tool('log')])
      await store.remove('git')
      await store.remove('git')
      expect(await store.load('git')).toBeUndefined()
      expect(await store.upstreams()).toEqual([])
    })

    test('names and texts are returned unchanged, whatever they contain', async () => {
      await using store = await open()
      const odd = ["a'; DROP TABLE tools; --", 'a\0b', 'a', '__proto__', '\ud800', '日本', '']
      for (const name of odd)
        await store.replaceTools(name, [tool(`${name}!`, 'x\0y "\u202e'.repeat(3))], { instructions: `of ${name}` })
      for (const name of odd) {
        expect(await store.load(name)).toEqual({
          tools: [tool(`${name}!`, 'x\0y "\u202e'.repeat(3))],
          instructions: `of ${name}`,
        })
      }
      expect(await store.upstreams()).toEqual(odd.toSorted())
    })

    test('changing the list after the call does not change the stored one', async () => {
      await using store = await open()
      const tools = [tool('log')]
      await store.replaceTools('git', tools)
      tools.push(tool('add'))
      expect(await store.tools('git')).toEqual([tool('log')])
    })

    test('concurrent operations run one after the other', async () => {
      await using store = await open()
      await Promise.all(Array.from({ length: 20 }, (_, index) => store.replaceTools('git', [tool(`t${index}`)])))
      expect(await store.tools('git')).toEqual([tool('t19')])
    })
  })
}
