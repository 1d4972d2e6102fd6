// The formats that files of bars have inside of whatever they are packed in.

export const FILE_FORMATS = ['csv', 'json'] as const
export type FileFormat = (typeof FILE_FORMATS)[number]
