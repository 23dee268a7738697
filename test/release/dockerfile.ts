/** One instruction of a Dockerfile, such as `RUN npm install`. */
export interface Instruction {
  readonly keyword: string
  /** The rest of the line, without options such as `--mount=…`. */
  readonly text: string
  readonly options: readonly string[]
}

/** Splits a Dockerfile into its stages, each with the instructions that follow its `FROM`. */
export function stagesOf(dockerfile: string): readonly (readonly Instruction[])[] {
  const stages: Instruction[][] = []
  for (const line of dockerfile
    .replaceAll(/^#.*\n/gmu, '')
    .replaceAll(/\\\n\s*/gu, '')
    .split('\n')) {
    const match = /^([A-Z]+) ((?:--\S+ )*)(.+)$/u.exec(line)
    if (match === null) continue
    const [, keyword = '', options = '', text = ''] = match
    if (keyword === 'FROM') stages.push([])
    stages.at(-1)?.push({ keyword, text, options: options.split(' ').filter((option) => option !== '') })
  }
  return stages
}

/** Returns the texts of all instructions of one kind. */
export function textsOf(stage: readonly Instruction[], keyword: string): readonly string[] {
  return stage.filter((each) => each.keyword === keyword).map(({ text }) => text)
}

/** Reads an instruction in exec form: `CMD ["serve"]`. */
export function commandOf(stage: readonly Instruction[], keyword: string): readonly string[] {
  const text = textsOf(stage, keyword).at(-1)?.replace(/^CMD /u, '')
  if (text === undefined) throw new Error(`The Dockerfile has no ${keyword}`)
  return JSON.parse(text) as string[]
}
