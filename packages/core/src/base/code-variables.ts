// Compared without case: npm accepts NPM_CONFIG_REGISTRY, and Windows ignores the case of all names.
const names: ReadonlySet<string> = new Set([
  ...['path', 'pathext', 'comspec', 'shell', 'shellopts', 'bashopts', 'bash_env', 'prompt_command', 'ps4', 'ifs', 'zdotdir'],
  ...[
    'node_options',
    'node_path',
    'node_repl_external_module',
    'electron_run_as_node',
    'bun_options',
    'deno_dir',
    'tsx_tsconfig_path',
  ],
  ...['pythonpath', 'pythonstartup', 'pythonhome', 'pythonuserbase', 'pythonbreakpoint', 'pythonwarnings', 'pythonexecutable'],
  ...['pythonplatlibdir', 'pythonpycacheprefix', 'pipx_default_python'],
  ...['rubyopt', 'rubylib', 'gem_home', 'gem_path', 'bundle_gemfile', 'bundle_path'],
  ...['perl5opt', 'perl5lib', 'perllib', 'perl5db', 'phprc', 'php_ini_scan_dir'],
  ...[
    'java_tool_options',
    '_java_options',
    'jdk_java_options',
    'java_opts',
    'java_home',
    'classpath',
    'maven_opts',
    'gradle_opts',
  ],
  ...['dotnet_startup_hooks', 'dotnet_root', 'dotnet_additional_deps', 'dotnet_shared_store'],
  ...['lua_path', 'lua_cpath', 'r_profile', 'r_profile_user', 'r_libs', 'r_libs_user', 'julia_load_path', 'julia_depot_path'],
  ...['erl_flags', 'erl_libs', 'elixir_erl_options', 'goflags', 'goproxy', 'rustc', 'rustc_wrapper'],
  ...['git_ssh', 'git_ssh_command', 'git_askpass', 'git_external_diff', 'git_proxy_command', 'git_exec_path', 'git_template_dir'],
  ...['git_editor', 'git_sequence_editor', 'git_pager', 'ssh_askpass', 'sudo_askpass'],
  ...['editor', 'visual', 'pager', 'manpager', 'lessopen', 'lessclose', 'browser'],
  ...['gconv_path', 'glibc_tunables', 'openssl_conf', 'openssl_modules', 'openssl_engines', 'gtk_modules', 'gio_extra_modules'],
  ...['qt_plugin_path', 'docker_host', 'docker_config'],
])
const families =
  /^(?:ld_|dyld_|bash_func_|npm_config_|pnpm_config_|yarn_|corepack_|pip_|uv_|cargo_|git_config|coreclr_|cor_|complus_|lua_init)|_executable_path$/iu
// Credentials of a registry load nothing, and must stay hidden.
const credential = /_auth|token|passw|secret|username|_key$|keyfile|certfile/iu

/**
 * True if an environment variable can make a program load or run other code, such as `NODE_OPTIONS`, `LD_PRELOAD` or `PATH`.
 */
export function loadsCode(name: string, value: string): boolean {
  const lower = name.toLowerCase()
  // Shells run this file at start; many programs use the same name for words such as "production".
  if (lower === 'env') return /[/\\$`]/u.test(value)
  return names.has(lower) || (families.test(name) && !credential.test(name))
}
