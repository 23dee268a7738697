import { expect, test } from 'vitest'
import { dataFolder } from './io.ts'

test('the data folder follows the platform convention', () => {
  const home = '/home/ada'
  expect(dataFolder({ platform: 'linux', home, env: {} })).toBe('/home/ada/.local/share/unfold')
  expect(dataFolder({ platform: 'linux', home, env: { XDG_DATA_HOME: '/data' } })).toBe('/data/unfold')
  expect(dataFolder({ platform: 'linux', home, env: { XDG_DATA_HOME: '/data', UNFOLD_HOME: '/own' } })).toBe('/own')
  expect(dataFolder({ platform: 'win32', home: 'C:\\Users\\ada', env: { LOCALAPPDATA: 'D:\\local' } })).toBe('D:\\local\\unfold')
  expect(dataFolder({ platform: 'win32', home: 'C:\\Users\\ada', env: {} })).toBe('C:\\Users\\ada\\AppData\\Local\\unfold')
})

test('a relative path is ignored', () => {
  expect(dataFolder({ platform: 'linux', home: '/home/ada', env: { UNFOLD_HOME: 'here', XDG_DATA_HOME: '' } })).toBe(
    '/home/ada/.local/share/unfold',
  )
})
