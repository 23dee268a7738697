import { describe, expect, test } from 'vitest'
import { networkOf } from '../wire/address.ts'
import { TrustedProxies } from './client-address.ts'

const from = (remoteAddress: string, headers: Record<string, string> = {}) =>
  ({ socket: { remoteAddress }, headers }) as unknown as Parameters<TrustedProxies['clientAddress']>[0]

describe('the address of a client', () => {
  const proxies = new TrustedProxies(['10.0.0.0/8', '::1'])
  test.each([
    ['without a proxy, forwarded addresses do not count', '192.0.2.1', { 'x-forwarded-for': '198.51.100.7' }, '192.0.2.1'],
    ['a trusted proxy forwards it', '10.1.2.3', { 'x-forwarded-for': '198.51.100.7' }, '198.51.100.7'],
    ['the client cannot prepend others', '10.1.2.3', { 'x-forwarded-for': '203.0.113.9, 198.51.100.7' }, '198.51.100.7'],
    ['trusted proxies in between are skipped', '10.1.2.3', { 'x-forwarded-for': '198.51.100.7, 10.9.9.9' }, '198.51.100.7'],
    ['a mapped address is an IPv4 address', '::ffff:10.1.2.3', { 'x-forwarded-for': '198.51.100.7:4711' }, '198.51.100.7'],
    [
      'the Forwarded header is read too',
      '::1',
      { forwarded: 'for=203.0.113.9, for="[2001:db8::7]:80";proto=https' },
      '2001:db8::7',
    ],
    [
      'of two different headers, none is trusted',
      '10.1.2.3',
      { forwarded: 'for=203.0.113.9', 'x-forwarded-for': '198.51.100.7' },
      '10.1.2.3',
    ],
    ['text is not an address', '10.1.2.3', { 'x-forwarded-for': '198.51.100.7, unknown' }, '10.1.2.3'],
    ['without a header, it is the proxy', '10.1.2.3', {}, '10.1.2.3'],
  ])('%s', (_, peer, headers, expected) => {
    expect(proxies.clientAddress(from(peer, headers as Record<string, string>))).toBe(expected)
  })
})

test('only TLS and trusted proxies make a connection secure', () => {
  const proxies = new TrustedProxies(['10.0.0.0/8'])
  const https = { 'x-forwarded-proto': 'https' }
  expect(proxies.isSecure(from('192.0.2.1', https))).toBe(false)
  expect(proxies.isSecure(from('10.1.2.3', https))).toBe(true)
  expect(proxies.isSecure(from('10.1.2.3'))).toBe(false)
  expect(proxies.isSecure(from('10.1.2.3', { 'x-forwarded-proto': 'https, http' }))).toBe(false)
  const encrypted = { socket: { remoteAddress: '192.0.2.1', encrypted: true }, headers: {} }
  expect(proxies.isSecure(encrypted as unknown as Parameters<TrustedProxies['isSecure']>[0])).toBe(true)
})

test('IPv6 clients are counted by network', () => {
  expect(networkOf('2001:db8:0:1:aaaa::1')).toBe('2001:db8:0:1::/64')
  expect(networkOf('2001:db8::1')).toBe('2001:db8:0:0::/64')
  expect(networkOf('192.0.2.1')).toBe('192.0.2.1')
})

test('only addresses and networks can be trusted', () => {
  for (const wrong of ['localhost', '10.0.0.0/33', '10.0.0.0/', '*', ''])
    expect(() => new TrustedProxies([wrong])).toThrow('is not an IP address or network')
})
