type Shell = 'bash' | 'zsh' | 'fish'

const templates: { readonly [shell in Shell]: (command: string, name: string) => string } = {
  bash: (command, name) => `# Completions of ${command} for bash. In ~/.bashrc: source <(${command} completion bash)
_${name}_complete() {
  local line kind=
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $kind ]]; then kind=$line; else COMPREPLY+=("$line"); fi
  done < <("$1" __complete bash "\${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
  # Without a list of its own, bash offers files.
  if [[ $kind != files ]]; then compopt +o default +o bashdefault 2>/dev/null; fi
}
complete -o default -o bashdefault -F _${name}_complete ${command}
`,
  zsh: (command, name) => `#compdef ${command}
# Completions of ${command} for zsh. In ~/.zshrc, after compinit: source <(${command} completion zsh)
_${name}() {
  local -a lines values shown
  local line
  lines=("\${(@f)$(${command} __complete zsh $((CURRENT - 2)) "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  if [[ \${lines[1]} == files ]]; then
    _files
    return
  fi
  for line in "\${(@)lines[2,-1]}"; do
    [[ -n $line ]] || continue
    values+=("\${line%%$'\\t'*}")
    shown+=("\${line/$'\\t'/  -- }")
  done
  (( \${#values} )) || return 1
  compadd -l -d shown -a values
}
if [[ $funcstack[1] == _${name} ]]; then
  _${name} "$@"
else
  compdef _${name} ${command}
fi
`,
  fish: (
    command,
    name,
  ) => `# Completions of ${command} for fish. In ~/.config/fish/config.fish: ${command} completion fish | source
function __${name}_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -e before[1]
    set -l lines (${command} __complete fish (count $before) $before "$current" 2>/dev/null)
    if test "$lines[1]" = files
        __fish_complete_path "$current"
        return
    end
    set -e lines[1]
    printf '%s\\n' $lines
end
complete -c ${command} -f -a '(__${name}_complete)'
`,
}

const scriptFor =
  (shell: Shell) =>
  (command = 'unfold'): string => {
    // The name becomes part of a script.
    if (!/^[A-Za-z0-9][A-Za-z0-9_.-]*$/u.test(command)) throw new TypeError(`"${command}" cannot be the name of a command.`)
    return templates[shell](command, command.replaceAll(/[.-]/gu, '_'))
  }

/** Completion scripts for `unfold` or a generated program. */
export const scripts = { bash: scriptFor('bash'), zsh: scriptFor('zsh'), fish: scriptFor('fish') }
