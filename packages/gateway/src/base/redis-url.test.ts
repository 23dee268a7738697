import { describe, expect, test } from 'vitest'
import { parseRedisUrl } from './redis-url.ts'

describe('URLs of Redis', () => {
  test.each([
    ['redis://localhost', { kind: 'standalone', nodes: [{ host: 'localhost', port: 6379 }], isTls: false, database: 0 }],
    ['rediss://user:p%40ss@cache.example:6380/2', { isTls: true, username: 'user', password: 'p@ss', database: 2 }],
    ['redis://:secret@[::1]:7000', { password: 'secret', nodes: [{ host: '::1', port: 7000 }] }],
    [
      'redis+sentinel://a:26379,b/mymaster/1',
      {
        kind: 'sentinel',
        master: 'mymaster',
        database: 1,
        nodes: [
          { host: 'a', port: 26_379 },
          { host: 'b', port: 26_379 },
        ],
      },
    ],
    [
      'rediss+cluster://h1:7000,h2:7001',
      {
        kind: 'cluster',
        isTls: true,
        nodes: [
          { host: 'h1', port: 7000 },
          { host: 'h2', port: 7001 },
        ],
      },
    ],
  ])('%s', (url, expected) => {
    expect(parseRedisUrl(url)).toMatchObject(expected)
  })

  test.each([
    'http://localhost',
    'localhost:6379',
    'redis://',
    'redis://a,b',
    'redis://host:70000',
    'redis://host/database',
    'redis+sentinel://a:26379',
    'redis+cluster://a/1',
    'redis://%zz@host',
  ])('%s is not valid', (url) => {
    expect(parseRedisUrl(url)).toBeUndefined()
  })
})
