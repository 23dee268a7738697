import { listen } from '@unfold-mcp/server'
import { expect, test } from 'vitest'
import { hybridServer } from '../src/hybrid/server.ts'
import { connected, eras, joinedTo } from './connected.ts'

const own = ['add_note', 'remove_note']
const menu = ['activate_core', 'deactivate']

test('a new session sees the menu and the static tools without a group', async () => {
  await using session = await connected(hybridServer())
  expect(await session.toolNames()).toEqual([...menu, ...own])
})

test('a pinned note is shown at once, any other with the group', async () => {
  await using session = await connected(hybridServer())
  expect(await session.text('add_note', { name: 'milk', text: 'Buy milk', pinned: true })).toMatch(
    /^Added note_milk\.\n1 tool is now available:/,
  )
  await session.call('add_note', { name: 'idea', text: 'A server of notes' })
  expect(await session.toolNames()).toEqual([...menu, ...own, 'note_milk'])
  await session.call('activate_core')
  expect(await session.toolNames()).toEqual([...menu, 'core_function', ...own, 'note_milk', 'note_idea'])
  await session.call('deactivate', { group: 'core' })
  expect(await session.toolNames()).toEqual([...menu, ...own, 'note_milk'])
})

test('without sessions static tools are listed first, and every note after them', async () => {
  await using session = await connected(hybridServer(), { era: 'stateless' })
  await session.call('add_note', { name: 'idea', text: 'A server of notes' })
  expect(await session.toolNames()).toEqual(['core_function', ...own, 'note_idea'])
})

test.each(eras)('a note is a tool for all clients until it is removed (%s)', async (era) => {
  await using listening = await listen(hybridServer(), { port: 0 })
  await using one = await joinedTo(listening.url, { era })
  await using other = await joinedTo(listening.url, { era })
  await one.call('add_note', { name: 'milk', text: 'Buy milk', pinned: true })
  await expect.poll(() => other.notices).toBe(1)
  expect(await other.text('note_milk')).toBe('Buy milk')
  expect(await other.text('remove_note', { name: 'milk' })).toBe('Removed note_milk.\nNo longer listed: note_milk.')
  await expect(one.call('note_milk')).rejects.toThrow('not found')
})

test('core_function finds notes that contain all words', async () => {
  await using session = await connected(hybridServer())
  await session.call('activate_core')
  await session.call('add_note', { name: 'milk', text: 'Buy fresh milk' })
  await session.call('add_note', { name: 'bread', text: 'Buy bread' })
  expect(await session.data('core_function', { query: 'MILK buy' })).toEqual({
    notes: [{ name: 'milk', text: 'Buy fresh milk' }],
  })
  expect(await session.data('core_function', { query: 'cheese' })).toEqual({ notes: [] })
})

test('errors include the next step', async () => {
  await using session = await connected(hybridServer())
  await session.call('add_note', { name: 'milk', text: 'Buy milk' })
  await expect(session.call('add_note', { name: 'milk', text: 'Again' })).rejects.toThrow('Remove it first')
  await expect(session.call('add_note', { name: 'Two words', text: 'x' })).rejects.toThrow('small letters')
  await expect(session.call('remove_note', { name: 'beer' })).rejects.toThrow('Unknown note "beer". Notes: milk.')
  await expect(session.call('core_function', { query: 'x' })).rejects.toThrow('not found')
})
