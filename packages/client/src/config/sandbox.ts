/** Limits of a server process, enforced by bubblewrap on Linux. The server is not started if they cannot be enforced. */
export interface Sandbox {
  /**
   * `files`: reads the file system except home folders, sockets and the files in `hide`. `strict`: reads system folders and its own
   * program only. Both write to nothing but a private, temporary home folder and `/tmp`.
   */
  readonly preset: 'files' | 'strict'
  /** Absolute paths that it may read. */
  readonly read?: readonly string[]
  /** Absolute paths that it may read and write. */
  readonly write?: readonly string[]
  /** Default: true for `files`, false for `strict`. */
  readonly network?: boolean
  /** Absolute paths that it cannot read, unless `read` or `write` names them or something in them. */
  readonly hide?: readonly string[]
  /** Folder for packages installed by `npx` and `uvx`. Default: `unfold/sandbox` in the user’s cache folder. */
  readonly installs?: string
}

export const hasNetwork = ({ preset, network }: Sandbox): boolean => network ?? preset === 'files'
