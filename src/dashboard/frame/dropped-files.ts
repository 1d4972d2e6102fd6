// The files of a drop, those in folders among them.

/** More than anybody drops, and fewer than a whole disk has. */
const FILES_MAX = 2000

/** Has to be called while the drop is handled: its data is gone afterwards. Files whose names begin with a dot are left out. */
export function filesDropped(data: DataTransfer | null): Promise<File[]> {
  const plain = [...(data?.files ?? [])]
  const entries = [...(data?.items ?? [])].flatMap((item) => item.webkitGetAsEntry() ?? [])
  if (!entries.some(({ isDirectory }) => isDirectory)) return Promise.resolve(plain)
  const files: File[] = []
  const add = async (entry: FileSystemEntry): Promise<void> => {
    if (files.length >= FILES_MAX || entry.name.startsWith('.')) return
    if (entry.isFile)
      files.push(await new Promise((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)))
    else for (const one of await entriesOf(entry as FileSystemDirectoryEntry)) await add(one)
  }
  return entries.reduce((before, entry) => before.then(() => add(entry)), Promise.resolve()).then(() => files)
}

/** A reader answers some at a time, and none at the end. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader()
  const all: FileSystemEntry[] = []
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail))
    if (some.length === 0 || all.length >= FILES_MAX) return all
    all.push(...some)
  }
}
