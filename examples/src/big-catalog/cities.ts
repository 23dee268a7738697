const zones = {
  Africa: 'Cairo Lagos Nairobi Johannesburg Casablanca Accra',
  America:
    'New_York Chicago Denver Los_Angeles Toronto Vancouver Mexico_City Bogota Lima Santiago Sao_Paulo Havana Halifax Anchorage',
  Asia: 'Tokyo Seoul Shanghai Hong_Kong Singapore Bangkok Jakarta Manila Kolkata Karachi Dubai Tehran Jerusalem Riyadh Kathmandu Dhaka',
  Australia: 'Sydney Melbourne Brisbane Perth Adelaide',
  Europe:
    'London Dublin Lisbon Madrid Paris Brussels Amsterdam Berlin Zurich Rome Vienna Prague Warsaw Stockholm Oslo Copenhagen Helsinki Athens Istanbul Kyiv',
  Pacific: 'Auckland Honolulu Fiji',
} as const

/** Cities with their time zones. */
export const cities = Object.entries(zones).flatMap(([region, names]) =>
  names.split(' ').map((name) => ({ name: name.replaceAll('_', ' '), zone: `${region}/${name}` })),
)
