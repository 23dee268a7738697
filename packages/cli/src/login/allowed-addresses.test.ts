import { describe, expect, test } from 'vitest'
import { addressScope, isLoopbackAddress } from './address-scope.ts'
import { AllowedAddresses, type Resolve } from './allowed-addresses.ts'

describe('the scope of an address', () => {
  test.each([
    ['93.184.216.34', 'public'],
    ['8.8.8.8', 'public'],
    ['2606:2800:220:1:248:1893:25c8:1946', 'public'],
    ['64:ff9b::808:808', 'public'],
    ['::ffff:8.8.8.8', 'public'],
    ['127.0.0.1', 'local'],
    ['127.255.255.254', 'local'],
    ['0.0.0.0', 'local'],
    ['0.1.2.3', 'local'],
    ['169.254.169.254', 'local'],
    ['::1', 'local'],
    ['::', 'local'],
    ['[::1]', 'local'],
    ['fe80::1', 'local'],
    ['fe80::1%eth0', 'local'],
    ['::ffff:127.0.0.1', 'local'],
    ['::ffff:7f00:1', 'local'],
    ['::ffff:0:127.0.0.1', 'local'],
    ['::127.0.0.1', 'local'],
    ['::ffff:169.254.169.254', 'local'],
    ['64:ff9b::7f00:1', 'local'],
    ['2002:7f00:1::', 'local'],
    ['10.1.2.3', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['172.32.0.1', 'public'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'private'],
    ['198.18.0.1', 'private'],
    ['fc00::1', 'private'],
    ['fd12:3456::1', 'private'],
    ['fec0::1', 'private'],
    ['2001::1', 'private'],
    ['::ffff:10.0.0.1', 'private'],
    ['64:ff9b::a00:1', 'private'],
    ['2002:a00:1::', 'private'],
    ['224.0.0.1', 'unusable'],
    ['255.255.255.255', 'unusable'],
    ['ff02::1', 'unusable'],
    ['203.0.113.1', 'unusable'],
    ['4000::1', 'unusable'],
    ['example.com', 'unusable'],
  ])('%s is %s', (address, scope) => {
    expect(addressScope(address)).toBe(scope)
  })
})

test('loopback addresses are recognised in every form', () => {
  expect(
    ['127.0.0.1', '127.9.9.9', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1'].filter((each) => !isLoopbackAddress(each)),
  ).toEqual([])
  expect(['0.0.0.0', '::', '10.0.0.1', '::ffff:10.0.0.1', 'fe80::1', 'localhost'].filter(isLoopbackAddress)).toEqual([])
})

const names: { readonly [name: string]: readonly string[] } = {
  'public.example': ['93.184.216.34'],
  'idp.example': ['93.184.216.35'],
  'office.example': ['10.0.0.5'],
  'here.example': ['127.0.0.1'],
  'both.example': ['93.184.216.36', '127.0.0.1'],
}

const resolve: Resolve = async (hostname) => (names[hostname] ?? []).map((address) => ({ address, family: 4 }))

const isAllowed = (server: string, url: string): Promise<boolean> =>
  new AllowedAddresses(server, resolve).of(new URL(url)).then(
    () => true,
    () => false,
  )

describe('a URL from the metadata of a server', () => {
  test.each([
    ['https://public.example/mcp', 'https://public.example/token', true],
    ['https://public.example/mcp', 'https://idp.example/token', true],
    ['https://public.example/mcp', 'http://idp.example/token', false],
    ['https://public.example/mcp', 'https://office.example/token', false],
    ['https://public.example/mcp', 'https://here.example/token', false],
    ['https://public.example/mcp', 'https://127.0.0.1/token', false],
    ['https://public.example/mcp', 'https://2130706433/token', false],
    ['https://public.example/mcp', 'https://0177.0.0.1/token', false],
    ['https://public.example/mcp', 'https://0x7f.1/token', false],
    ['https://public.example/mcp', 'https://127.1/token', false],
    ['https://public.example/mcp', 'https://0/token', false],
    ['https://public.example/mcp', 'https://[::ffff:127.0.0.1]/token', false],
    ['https://public.example/mcp', 'https://[::]/token', false],
    ['https://public.example/mcp', 'https://169.254.169.254/latest', false],
    ['https://public.example/mcp', 'https://224.0.0.1/token', false],
    ['https://public.example/mcp', 'file:///etc/passwd', false],
    ['https://office.example/mcp', 'https://office.example/token', true],
    ['https://office.example/mcp', 'https://10.9.9.9/token', true],
    ['https://office.example/mcp', 'https://idp.example/token', true],
    ['https://office.example/mcp', 'https://127.0.0.1/token', false],
    ['https://office.example/mcp', 'https://169.254.169.254/latest', false],
    ['http://127.0.0.1:1/mcp', 'http://here.example/token', true],
    ['http://127.0.0.1:1/mcp', 'http://unknown.example/token', false],
    ['http://127.0.0.1:1/mcp', 'http://127.0.0.1:2/token', true],
    ['http://127.0.0.1:1/mcp', 'http://[::1]:2/token', true],
    ['http://127.0.0.1:1/mcp', 'https://10.0.0.1/token', true],
    ['http://127.0.0.1:1/mcp', 'http://10.0.0.1/token', false],
    ['https://both.example/mcp', 'https://here.example/token', false],
  ])('of %s: %s is allowed: %s', async (server, url, allowed) => {
    expect(await isAllowed(server, url)).toBe(allowed)
  })
})

test('only the checked addresses are used: a name that changes its address does not help', async () => {
  const both = await new AllowedAddresses('https://both.example/', resolve).of(new URL('https://both.example/'))
  expect(both).toEqual([{ address: '93.184.216.36', family: 4 }])
  const changing = ['127.0.0.1', '93.184.216.34']
  const addresses = new AllowedAddresses('https://changing.example/', async () => [
    { address: changing.shift() ?? '', family: 4 },
  ])
  // Classified as a server on this machine, and reached there.
  expect(await addresses.of(new URL('https://changing.example/'))).toEqual([{ address: '127.0.0.1', family: 4 }])
  expect(await addresses.of(new URL('https://changing.example/'))).toEqual([{ address: '127.0.0.1', family: 4 }])
})
