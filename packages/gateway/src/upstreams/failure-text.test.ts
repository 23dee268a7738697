import { ClientError } from '@unfold-mcp/client'
import { expect, test } from 'vitest'
import { type Failing, failureText } from './failure-text.ts'

const github: Failing = {
  name: 'github',
  isCommand: true,
  wasConnected: false,
  settings: { startTimeoutMs: 30_000, installTimeoutMs: 600_000 },
}
const dead = { target: 'npx', code: 1, signal: null, lastLines: ['Usage: github [options]'] }
const died = (
  more: {
    readonly firstError?: string
    readonly npxFolder?: string
    readonly unexpectedLine?: string
    readonly lastLines?: readonly string[]
  } = {},
) => new ClientError('server_died', 'npx exited with code 1.', { ...dead, ...more })

test.each([
  [
    'a missing variable',
    died({ firstError: 'GITHUB_TOKEN is not set' }),
    'failed to start: GITHUB_TOKEN is not set. Set it, or remove the server with "unfold remove github".',
  ],
  [
    'any other reason',
    died({ firstError: 'port 80 is in use!' }),
    'failed to start: port 80 is in use! See "unfold logs github --stderr", or remove the server with "unfold remove github".',
  ],
  [
    'no line that looks like an error',
    died(),
    'failed to start: it exited with code 1: Usage: github [options]. See "unfold logs github --stderr", or remove the server with "unfold remove github".',
  ],
  [
    'a damaged folder of npx',
    died({ firstError: "Cannot find package 'zod' imported from /c/_npx/5b2d/x.js", npxFolder: '/c/_npx/5b2d' }),
    'failed to start: Cannot find package \'zod\' imported from /c/_npx/5b2d/x.js. The npx folder /c/_npx/5b2d is incomplete. Delete it, or run "unfold doctor --fix".',
  ],
  [
    'no output at all',
    died({ lastLines: [] }),
    'failed to start: it exited with code 1 and wrote nothing to standard error. Check "command" and "args", or remove the server with "unfold remove github".',
  ],
  [
    'a program that logs to stdout',
    died({ lastLines: [], unexpectedLine: 'Listening on port 80' }),
    'failed to start: it exited with code 1. It wrote to stdout, but not an MCP message: "Listening on port 80". Check that the command starts an MCP server, and that it logs to stderr. Otherwise, remove the server with "unfold remove github".',
  ],
  [
    'a start that takes too long',
    new ClientError('timeout', '', { what: 'x', timeoutMs: 30_000, firstError: 'cannot reach the database' }),
    'failed to start: no response within 30 s. stderr: cannot reach the database. If it is slow, increase "startTimeoutMs" (30000), or remove the server with "unfold remove github".',
  ],
  [
    'an installation that takes too long',
    new ClientError('timeout', '', { what: 'x', timeoutMs: 600_000, isInstalling: true, lastLines: ['Downloading …'] }),
    'failed to start: no response within 600 s. stderr: Downloading … If it is slow, increase "installTimeoutMs" (600000), or remove the server with "unfold remove github".',
  ],
  [
    'a command that is not there',
    new ClientError('unreachable', 'npx could not be started. Command not found.', { target: 'npx' }),
    'failed to start: npx could not be started. Command not found.',
  ],
])('states what failed, why, and what to do: %s', (_what, error, text) => {
  expect(failureText(error, github)).toBe(text)
})

test('a remote server fails to connect, a connected one is lost, and a name is quoted if a shell requires it', () => {
  const away = new ClientError('unreachable', 'connection refused.', { target: 'x' })
  expect(failureText(away, { ...github, isCommand: false })).toBe('failed to connect: connection refused.')
  expect(failureText(died(), { ...github, wasConnected: true })).toBe('disconnected: npx exited with code 1.')
  expect(failureText(died(), { ...github, name: "my 'own' $(x)" })).toContain(`unfold remove 'my '\\''own'\\'' $(x)'`)
})
