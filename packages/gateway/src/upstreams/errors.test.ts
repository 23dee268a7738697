import { ClientError } from '@unfold-mcp/client'
import { ToolError } from '@unfold-mcp/server'
import { expect, test } from 'vitest'
import { asUpstreamError, isServerResponse, publicErrorMessage } from './errors.ts'

const lastLines = ['token=secret']
const died = new ClientError('server_died', 'x exited with code 3.\nLast stderr output:\n  token=secret', {
  target: 'x',
  code: 3,
  signal: null,
  lastLines,
})

test('the output of an ended process is not sent to the model', () => {
  const error = asUpstreamError('git', 'log', died)
  expect(error).toBeInstanceOf(ToolError)
  expect(error.message).toBe(
    'The server "git" ended (with code 3) while "log" was running, and is being restarted. ' +
      'The call may have had an effect: check before calling it again.',
  )
  expect(publicErrorMessage(died)).toBe('The process ended.')
})

test.each([
  [new ClientError('unreachable', '', { target: 'x' }), 'died', 'disconnected while'],
  [new ClientError('login_required', '', { target: 'x' }), 'needs_login', 'requires authentication'],
  [new ClientError('timeout', '', { what: 'x', timeoutMs: 2_500 }), 'timeout', 'within 2.5 s'],
  [new ClientError('cancelled', '', { what: 'x' }), 'cancelled', 'is cancelled'],
  [new ClientError('unknown_tool', '', { name: 'log', nearest: [] }), 'unknown_tool', 'no longer has the tool "log"'],
  [new ClientError('protocol', '', { problem: 'bad\u001b[2Jwords\nand more' }), 'failed', '[2Jwords\nand more'],
  [
    new ClientError('protocol', '', { problem: 'no such branch' }),
    'failed',
    'The server "git" failed to run "log": no such branch',
  ],
  [
    new ClientError('protocol', '', { problem: 'slow down', status: 429, retryAfterMs: 6_500 }),
    'busy',
    'The server "git" refused "log" (HTTP 429). The tool was not called; retry after 7 s.',
  ],
  [new TypeError('oh'), 'failed', 'The server "git" failed to run "log": oh'],
] as const)('%s is reported as %s', (error, kind, text) => {
  const reported = asUpstreamError('git', 'log', error)
  expect(reported.kind).toBe(kind)
  expect(reported.message).toContain(text)
  expect(reported.message).not.toContain('\u001b')
  expect(asUpstreamError('git', 'log', reported)).toBe(reported)
})

test('a server that requests a pause is not called unreachable', () => {
  const error = new ClientError('unreachable', '', { target: 'x', status: 503, retryAfterMs: 2_000 })
  expect(publicErrorMessage(error)).toBe('It refuses requests for now.')
  expect(asUpstreamError('git', 'log', error)).toMatchObject({ kind: 'busy', retryAfterMs: 2_000 })
})

test('an error in a response shows that the server works; an HTTP error may be due to an outdated session', () => {
  expect(isServerResponse(new ClientError('protocol', '', { problem: 'no' }))).toBe(true)
  expect(isServerResponse(new ClientError('protocol', '', { problem: 'no', status: 429 }))).toBe(true)
  expect(isServerResponse(new ClientError('protocol', '', { problem: 'no', status: 400 }))).toBe(false)
  expect(isServerResponse(died)).toBe(false)
  expect(isServerResponse(new Error('no'))).toBe(false)
})
