import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { ClientError } from '../errors/errors.ts'
import { malformedResponse, PendingRequests } from './pending-requests.ts'

const request = (id: number): JSONRPCMessage => ({ jsonrpc: '2.0', id, method: 'tools/call' })
const response = (id: number | string): JSONRPCMessage => ({ jsonrpc: '2.0', id, result: {} })
const cancelled = (requestId: number): JSONRPCMessage => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
})

test('the response to a request that was cancelled or has failed is dropped once', () => {
  const pending = new PendingRequests()
  for (const id of [1, 2, 3]) pending.track(request(id))
  pending.track(cancelled(1))
  pending.failureResponse(2, new ClientError('unreachable', 'gone', { target: 'it' }))
  expect([1, 2, 3].map((id) => pending.receive(response(id)))).toEqual([false, false, true])
  expect(pending.receive(response(1))).toBe(true)
  expect(pending.count).toBe(0)
})

test('an id that is returned as a string matches the same request', () => {
  const pending = new PendingRequests()
  pending.track(request(5))
  expect(pending.receive(response('5'))).toBe(true)
  expect(pending.count).toBe(0)
  pending.track(request(6))
  pending.track(cancelled(6))
  expect(pending.receive(response('6'))).toBe(false)
})

test('only the last thousand requests without a response are remembered', () => {
  const pending = new PendingRequests()
  for (let id = 0; id < 1_001; id++) pending.end(id)
  expect(pending.receive(response(0))).toBe(true)
  expect(pending.receive(response(1))).toBe(false)
})

test('a response has a result or an error, and not both', () => {
  const error = { code: -32_603, message: 'no' }
  const problem = (parts: object): string | undefined =>
    malformedResponse({ jsonrpc: '2.0', id: 1, ...parts } as JSONRPCMessage)?.problem
  expect(problem({ result: {} })).toBeUndefined()
  expect(problem({ error })).toBeUndefined()
  expect(problem({ result: {}, error: null })).toBeUndefined()
  expect(problem({ result: null, error })).toBeUndefined()
  expect(problem({ result: {}, error })).toBe('both a result and an error')
  expect(problem({ result: {}, error: 'no' })).toBe('both a result and an error')
  expect(problem({})).toBe('neither a result object nor an error')
})
