/** A picture of sixteen by sixteen pixels, for examples that need one. */
export const EXAMPLE_IMAGE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAIklEQVR42mM4YaYPR/+RAC5xhkGogRhFyOKDUcNoPAwKDQCnYBUfIbYpgAAAAABJRU5ErkJggg==';
