import { describe, expect, test } from 'vitest'
import { parseQuery } from '../query.ts'
import { actionFactor, actionOfTool, askedActions } from './action-ranking.ts'

const asked = (query: string) => askedActions(parseQuery(query))
const action = (name: string, source = 'test') => actionOfTool({ id: name, source, name })

describe('actions of requests', () => {
  test.each([
    ['list my issues', ['read']],
    ['create an issue', ['create']],
    ['renaming a branch', ['change']],
    ['send the report and delete the file', ['send', 'delete']],
    ['what is the weather', []],
    ['the order of the book', []],
  ])('%j asks for %j', (query, expected) => {
    expect([...asked(query).actions]).toEqual(expected)
  })

  test.each(['delete the file', 'get rid of the staging environment', 'cancel my order', 'close the old account', 'undo it'])(
    '%j asks for destruction',
    (query) => {
      expect(asked(query).isDestructive).toBe(true)
    },
  )

  test.each(['translate this paragraph to German', 'what did we decide in the last meeting', 'show my files'])(
    '%j does not ask for destruction',
    (query) => {
      expect(asked(query).isDestructive).toBe(false)
    },
  )
})

describe('actions of tools', () => {
  test.each([
    ['get_user', 'read'],
    ['createIssue', 'create'],
    ['DeleteGithubIssueReaction', 'delete'],
    ['issue_delete', 'delete'],
    ['send-message', 'send'],
    ['weather', undefined],
    ['message', undefined],
  ])('%s: %s', (name, expected) => {
    expect(action(name)).toBe(expected)
  })

  test('the prefix of the source is not a verb', () => {
    expect(action('send__list_messages', 'send')).toBe('read')
  })
})

describe('factor of a tool', () => {
  test('only a conflicting verb lowers the score', () => {
    const { actions, isDestructive } = asked('list issues')
    const factor = (name: string): number => actionFactor({ actions, isDestructive }, action(name))
    expect(factor('list_issues')).toBe(1)
    expect(factor('issues')).toBe(1)
    expect(factor('delete_issue')).toBeLessThan(1)
    expect(factor('create_issue')).toBe(factor('delete_issue'))
  })

  test('a request without a verb conflicts with nothing', () => {
    expect(actionFactor(asked('issues of the repository'), 'delete')).toBe(1)
  })
})
