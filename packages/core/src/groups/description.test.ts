import { expect, test } from 'vitest'
import { generateDescription } from './description.ts'

const about = (label: string, names: string): string => generateDescription(label, names.split(/\s+/u).filter(Boolean))

test('a group is described by the objects of its tools, most frequent first', () => {
  const notion = `API-get-user API-get-users API-get-block-children API-patch-block-children API-retrieve-a-block API-update-a-block
    API-retrieve-a-page API-patch-page API-post-page API-create-a-comment API-query-data-source API-retrieve-a-data-source`
  expect(about('notion', notion)).toBe('Notion: blocks, pages, users, data sources (12 tools)')
  const github = `create_or_update_file search_repositories create_repository get_file_contents push_files create_issue list_issues
    create_pull_request list_pull_requests merge_pull_request get_pull_request_status update_issue add_issue_comment search_code`
  expect(about('GitHub', github)).toBe('GitHub: issues, pull requests, files, repositories (14 tools)')
})

test('server names and verbs are not objects', () => {
  expect(about('slack', 'slack_list_channels slack_post_message slack_reply_to_thread slack_get_thread_replies')).toBe(
    'Slack: threads, channels, messages (4 tools)',
  )
  expect(about('google-calendar', 'listEvents createEvent deleteEvent listCalendars')).toBe(
    'Google calendar: events, calendars (4 tools)',
  )
  expect(about('shop', 'shop__order_create shop__order_cancel shop__basket_read')).toBe('Shop: orders, baskets (3 tools)')
})

test('names without an object are used as they are, and one tool is singular', () => {
  expect(about('desk', 'desk__echo')).toBe('Desk: echo (1 tool)')
  expect(about('database', 'query insert update')).toBe('Database: query, insert, update (3 tools)')
  expect(about('empty', '')).toBe('Empty (0 tools)')
})

test('the description is short and deterministic for any names', () => {
  const names = Array.from({ length: 500 }, (_, index) => `get_thing${'x'.repeat(index % 7)}_number_${index}_of_many_${index}`)
  const made = generateDescription('many', names)
  expect(made).toBe(generateDescription('many', names))
  expect(made).toMatch(/^Many: .*\(500 tools\)$/u)
  expect(made.length).toBeLessThan(150)
  for (const odd of ['__proto__', 'constructor', '日本語', '123', '-', 'a__b'])
    expect(generateDescription(odd, [odd])).toMatch(/\(1 tool\)$/u)
})
