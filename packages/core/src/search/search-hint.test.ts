import { expect, test } from 'vitest'
import { searchHint } from './search-hint.ts'

const tool = (name: string, description = '') => ({ name, description, inputSchema: { type: 'object' as const } })

test('the hint contains synonyms that the tool lacks', () => {
  const words = searchHint(tool('create_issue', 'Create an issue in a repository'), []).split(' ')
  expect(words).toContain('bug')
  expect(words).toContain('add')
  expect(words).not.toContain('issue')
  expect(words).not.toContain('create')
})

test('group and tags come first, without words of the name', () => {
  expect(searchHint(tool('zyzzyva'), ['github', 'zyzzyva', 'code review'])).toBe('github code review')
})

test('the hint stays small, however many synonyms there are', () => {
  const hint = searchHint(tool('create_delete_update_get_find_send_movie_weather_photo_email'), ['a', 'files'])
  expect(hint.split(' ').length).toBeLessThanOrEqual(20)
  for (const noun of ['film', 'forecast', 'picture', 'mail']) expect(hint).toContain(noun)
})

test('camel-case names are split into words', () => {
  expect(searchHint(tool('deleteFile'), []).split(' ')).toContain('remove')
})
