import { expect, test } from 'vitest'
import { firstErrorLine } from './error-line.ts'
import { damagedNpxFolder } from './npx-folder.ts'

test.each([
  [
    'a reason, then the usage',
    [
      'Error: No access token was provided. Pass one with --access-token.',
      '',
      'Usage: server [options]',
      '  --help  Show an error',
    ],
    'No access token was provided. Pass one with --access-token.',
  ],
  [
    'a heading, then the reason',
    ['\u001b[31m🚨 Error initializing the server:\u001b[39m', '', '   API key not provided.'],
    '🚨 Error initializing the server: API key not provided.',
  ],
  [
    'warnings first',
    ['npm warn deprecated x@1: error prone', '(node:1) Warning: errors ahead', 'GITHUB_TOKEN is not set', 'exiting'],
    'GITHUB_TOKEN is not set',
  ],
  [
    'a log line',
    ['INFO starting, 0 errors', '[12:00:01] ERROR: connection refused', 'bye'],
    '[12:00:01] ERROR: connection refused',
  ],
  [
    'a Node stack',
    [
      '/x/y.js:3',
      '  throw new Error("the key is missing")',
      '  ^',
      '',
      'TypeError: the key is missing',
      '    at run (/x/y.js:3:9)',
      '',
      'Node.js v20.0.0',
    ],
    'TypeError: the key is missing',
  ],
  [
    'a Python traceback',
    [
      'Traceback (most recent call last):',
      '  File "/x.py", line 3, in <module>',
      '    raise ValueError("no key")',
      'ValueError: no key',
    ],
    'ValueError: no key',
  ],
  [
    'npm',
    [
      'npm error code E404',
      'npm error 404',
      'npm error 404 Not Found - GET https://registry.example/x',
      'npm error A complete log of this run can be found in: /x',
    ],
    '404 Not Found - GET https://registry.example/x',
  ],
  ['only indented lines', ['  it cannot start'], 'it cannot start'],
])('finds the first error line: %s', (_what, lines, line) => {
  expect(firstErrorLine(lines)).toBe(line)
})

test('returns nothing if no line reports an error', () => {
  expect(firstErrorLine(['hello', '    at run (/x/error.js:3:9)', ''])).toBeUndefined()
})

const cache = '/home/me/.npm/_npx/5b2dd62b9d0bddd4'

test.each([
  ['a module', [`Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from ${cache}/node_modules/x/index.js`]],
  ['a required module', ["Error: Cannot find module 'zod/v4'", 'Require stack:', `- ${cache}/node_modules/x/index.js`]],
  [
    'a file of its own',
    [`Cannot find module '${cache}/node_modules/x/dist/a.js' imported from file://${cache}/node_modules/x/index.js`],
  ],
  ['a folder that npm cannot move', ['npm error code ENOTEMPTY', `npm error path ${cache}/node_modules/zod`]],
  ['a truncated package.json', [`Error: Invalid package config ${cache}/node_modules/zod/package.json.`]],
])('finds the damaged npx folder: %s', (_what, lines) => {
  expect(damagedNpxFolder(lines)).toBe(cache)
})

test('finds a damaged npx folder on Windows', () => {
  const lines = [
    "Cannot find package 'zod' imported from C:\\Users\\me\\AppData\\Local\\npm-cache\\_npx\\5b2dd62b9d0bddd4\\node_modules\\x\\index.js",
  ]
  expect(damagedNpxFolder(lines)).toBe('C:\\Users\\me\\AppData\\Local\\npm-cache\\_npx\\5b2dd62b9d0bddd4')
})

test.each([
  ["Cannot find package 'zod' imported from /home/me/server/index.js"],
  [`Cannot find module '/home/me/settings.js'\n- ${cache}/node_modules/x/index.js`],
  [`the server of ${cache} has no key`],
])('ignores other errors: %s', (text) => {
  expect(damagedNpxFolder(text.split('\n'))).toBeUndefined()
})
