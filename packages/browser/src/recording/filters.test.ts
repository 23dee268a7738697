import { describe, expect, test } from 'vitest'
import { action, log, request } from '../../test/samples.ts'
import { matchesFilters, noFilters } from './filters.ts'

describe('without filters', () => {
  test('everything is recorded', () => {
    expect(matchesFilters(noFilters, 'logs', log())).toBe(true)
    expect(matchesFilters({ ...noFilters }, 'network', request())).toBe(true)
  })
})

describe('with filters', () => {
  const api = { ...noFilters, urls: ['/api/', '/graphql'] }

  test('only URLs that contain one of the parts are recorded', () => {
    expect(matchesFilters(api, 'network', request({ url: 'https://shop.example/api/items' }))).toBe(true)
    expect(matchesFilters(api, 'network', request({ url: 'https://shop.example/graphql' }))).toBe(true)
    expect(matchesFilters(api, 'network', request({ url: 'https://shop.example/logo.png' }))).toBe(false)
  })

  test('a URL that contains an ignored part is not recorded, even if it is included otherwise', () => {
    const filters = { ...api, ignoreUrls: ['/api/health'] }
    expect(matchesFilters(filters, 'network', request({ url: 'https://shop.example/api/health' }))).toBe(false)
    expect(matchesFilters(filters, 'network', request({ url: 'https://shop.example/api/items' }))).toBe(true)
  })

  test('levels apply to messages, and types to requests', () => {
    const filters = { ...noFilters, levels: ['error'] as const, types: ['fetch'] }
    expect(matchesFilters(filters, 'logs', log({ level: 'error' }))).toBe(true)
    expect(matchesFilters(filters, 'logs', log({ level: 'debug' }))).toBe(false)
    expect(matchesFilters(filters, 'network', request({ type: 'fetch' }))).toBe(true)
    expect(matchesFilters(filters, 'network', request({ type: 'image' }))).toBe(false)
    expect(matchesFilters(filters, 'actions', action())).toBe(true)
  })
})
