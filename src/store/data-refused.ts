/**
 * Says why a data directory is not opened, and what to do, in sentences for the person who started the program. Nothing has
 * been written.
 */
export class DataRefused extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'DataRefused'
  }
}
