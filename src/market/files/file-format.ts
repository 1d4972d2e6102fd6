// The formats that files of bars have inside of whatever they are packed in.

export type FileFormat = 'csv' | 'json' | 'parquet' | 'arrow'
