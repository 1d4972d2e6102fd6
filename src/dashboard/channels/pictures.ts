// How the picture of the chart in what tells of an alert looks.

export const PICTURES = [
  ['dark', 'Dark'],
  ['light', 'Light'],
  ['off', 'None'],
] as const
