import { describe, expect, test } from 'vitest'
import { action, log, request } from '../../test/samples.ts'
import { isWanted, noFilters } from './filters.ts'

describe('without filters', () => {
  test('everything is recorded', () => {
    expect(isWanted(noFilters, 'logs', log())).toBe(true)
    expect(isWanted({ ...noFilters }, 'network', request())).toBe(true)
  })
})

describe('with filters', () => {
  const api = { ...noFilters, urls: ['/api/', '/graphql'] }

  test('only addresses that contain one of the parts are recorded', () => {
    expect(isWanted(api, 'network', request({ url: 'https://shop.example/api/items' }))).toBe(true)
    expect(isWanted(api, 'network', request({ url: 'https://shop.example/graphql' }))).toBe(true)
    expect(isWanted(api, 'network', request({ url: 'https://shop.example/logo.png' }))).toBe(false)
  })

  test('an address that contains an ignored part is not, even when it is wanted otherwise', () => {
    const filters = { ...api, ignoreUrls: ['/api/health'] }
    expect(isWanted(filters, 'network', request({ url: 'https://shop.example/api/health' }))).toBe(false)
    expect(isWanted(filters, 'network', request({ url: 'https://shop.example/api/items' }))).toBe(true)
  })

  test('levels concern messages, and types requests', () => {
    const filters = { ...noFilters, levels: ['error'] as const, types: ['fetch'] }
    expect(isWanted(filters, 'logs', log({ level: 'error' }))).toBe(true)
    expect(isWanted(filters, 'logs', log({ level: 'debug' }))).toBe(false)
    expect(isWanted(filters, 'network', request({ type: 'fetch' }))).toBe(true)
    expect(isWanted(filters, 'network', request({ type: 'image' }))).toBe(false)
    expect(isWanted(filters, 'actions', action())).toBe(true)
  })
})
