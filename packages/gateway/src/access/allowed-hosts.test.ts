import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { localUrl } from '../config/address.ts'
import { allowedHosts } from './allowed-hosts.ts'

test('a gateway accepts the host names of its listening address, and the configured ones', () => {
  const local = ['localhost', '127.0.0.1', '[::1]']
  expect(allowedHosts('127.0.0.1', ['box.example'])).toEqual([...local, 'box.example'])
  expect(allowedHosts('192.0.2.7', [])).toEqual([...local, '192.0.2.7'])
  expect(allowedHosts('[2001:db8::1]', [])).toEqual([...local, '[2001:db8::1]'])
  expect(allowedHosts('0.0.0.0', ['box.example'])).toEqual(
    expect.arrayContaining([...local, hostname().toLowerCase(), 'box.example']),
  )
  expect(allowedHosts('0.0.0.0', [])).not.toContain('0.0.0.0')
})

test('a gateway on all interfaces accepts the names of this machine', () => {
  expect(localUrl('http://0.0.0.0:7420/mcp')).toBe('http://127.0.0.1:7420/mcp')
  expect(localUrl('http://[::]:7420/mcp')).toBe('http://[::1]:7420/mcp')
  expect(localUrl('http://192.0.2.7:7420/mcp')).toBe('http://192.0.2.7:7420/mcp')
})
