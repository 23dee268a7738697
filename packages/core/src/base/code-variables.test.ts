import { expect, test } from 'vitest'
import { loadsCode } from './code-variables.ts'

test('variables that make programs load code are recognised in any case', () => {
  const names = [
    ...['NODE_OPTIONS', 'LD_PRELOAD', 'LD_LIBRARY_PATH', 'LD_AUDIT', 'PATH', 'Path', 'DYLD_INSERT_LIBRARIES', 'PYTHONPATH'],
    ...['PYTHONSTARTUP', 'RUBYOPT', 'PERL5OPT', 'JAVA_TOOL_OPTIONS', 'BASH_ENV', 'GIT_SSH_COMMAND', 'npm_config_registry'],
    ...['NPM_CONFIG_SCRIPT_SHELL', 'UV_INDEX_URL', 'PIP_INDEX_URL', 'GIT_CONFIG_VALUE_0', 'DOTNET_STARTUP_HOOKS'],
  ]
  expect(names.filter((name) => !loadsCode(name, 'x'))).toEqual([])
})

test('others are not, nor are credentials of a registry', () => {
  const names = [
    ...['API_KEY', 'HOME', 'LANG', 'NODE_ENV', 'DATABASE_PATH', 'GITHUB_TOKEN', 'npm_config__authToken', 'CARGO_REGISTRY_TOKEN'],
    ...['npm_config_//registry.example/:_password', 'LDAP_HOST', 'UVICORN_PORT'],
  ]
  expect(names.filter((name) => loadsCode(name, 'x'))).toEqual([])
  expect(loadsCode('ENV', 'production')).toBe(false)
  expect(loadsCode('ENV', './start.sh')).toBe(true)
})
