import type { OwnServer } from '../server.ts'

/** Servers for home and leisure. */
export const life: readonly OwnServer[] = [
  {
    name: 'weather',
    description: 'Forecasts, current conditions and warnings',
    tools: [
      {
        name: 'get_forecast',
        description: 'Returns the daily weather forecast for a location: temperature, precipitation and wind.',
        parameters: { location: 'City or coordinates', days: '1 to 10' },
      },
      {
        name: 'get_current_conditions',
        description: 'Returns the weather measured at the nearest station.',
        parameters: { location: 'City or coordinates' },
      },
      {
        name: 'get_air_quality',
        description: 'Returns the air quality index, particulate matter and pollen count.',
        parameters: { location: 'City or coordinates' },
      },
      {
        name: 'get_sun_times',
        description: 'Returns sunrise, sunset and twilight for a date.',
        parameters: { location: 'City or coordinates', date: 'Date' },
      },
      {
        name: 'get_severe_warnings',
        description: 'Returns active severe weather warnings for a region.',
        parameters: { region: 'Region' },
      },
    ],
  },
  {
    name: 'music',
    description: 'Playback, playlists and library of a music account',
    tools: [
      {
        name: 'play_track',
        description: 'Plays a track, album or playlist on a device.',
        parameters: { uri: 'Track, album or playlist', device_id: 'Device' },
      },
      {
        name: 'pause_playback',
        description: 'Pauses playback on the active device.',
        parameters: { device_id: 'Device' },
      },
      {
        name: 'skip_to_next',
        description: 'Skips to the next track in the queue.',
        parameters: { device_id: 'Device' },
      },
      {
        name: 'set_volume',
        description: 'Sets the playback volume in percent.',
        parameters: { percent: '0 to 100', device_id: 'Device' },
      },
      {
        name: 'create_playlist',
        description: 'Creates an empty playlist.',
        parameters: { name: 'Name', public: 'Whether it is public' },
      },
      {
        name: 'add_to_playlist',
        description: 'Adds tracks to a playlist.',
        parameters: { playlist_id: 'Playlist', uris: 'Tracks' },
      },
      {
        name: 'get_recommendations',
        description: 'Recommends tracks similar to seed artists or tracks.',
        parameters: { seeds: 'Artists or tracks', limit: 'Maximum number' },
      },
      {
        name: 'get_lyrics',
        description: 'Returns the lyrics of a track.',
        parameters: { track_id: 'Track' },
      },
    ],
  },
  {
    name: 'home',
    description: 'Smart home: lights, climate, locks, cameras and appliances',
    tools: [
      {
        name: 'turn_off_light',
        description: 'Switches off a light or all lights of an area.',
        parameters: { entity_id: 'Light', area: 'Area' },
      },
      {
        name: 'set_light_brightness',
        description: 'Sets brightness and color of a light.',
        parameters: { entity_id: 'Light', brightness: 'Percent', color: 'Color' },
      },
      {
        name: 'set_thermostat',
        description: 'Sets the target temperature and mode of a thermostat.',
        parameters: { entity_id: 'Thermostat', temperature: 'Degrees', mode: 'heat, cool or auto' },
      },
      {
        name: 'lock_door',
        description: 'Locks a smart door lock.',
        parameters: { entity_id: 'Lock' },
      },
      {
        name: 'get_camera_snapshot',
        description: 'Takes a still image from a security camera.',
        parameters: { entity_id: 'Camera' },
      },
      {
        name: 'start_vacuum',
        description: 'Starts the robot vacuum, for all rooms or some.',
        parameters: { entity_id: 'Vacuum', rooms: 'Rooms' },
      },
      {
        name: 'get_energy_usage',
        description: 'Returns electricity consumption per device and period.',
        parameters: { period: 'day, week or month', entity_id: 'Device' },
      },
      {
        name: 'open_cover',
        description: 'Opens blinds, shutters or a garage door.',
        parameters: { entity_id: 'Cover', position: 'Percent' },
      },
    ],
  },
  {
    name: 'maps',
    description: 'Geocoding, places and routes',
    tools: [
      {
        name: 'get_directions',
        description: 'Returns a route between two points by car, transit, bicycle or on foot, with duration.',
        parameters: {
          origin: 'Start',
          destination: 'End',
          mode: 'driving, transit, bicycling or walking',
          departure_time: 'Departure',
        },
      },
      {
        name: 'search_places',
        description: 'Searches nearby places by category or name, with ratings and opening hours.',
        parameters: { query: 'Category or name', location: 'Center', radius: 'Meters', open_now: 'Only open ones' },
      },
      {
        name: 'geocode_address',
        description: 'Converts an address to latitude and longitude.',
        parameters: { address: 'Address' },
      },
      {
        name: 'get_traffic',
        description: 'Returns live traffic and delays on a road or route.',
        parameters: { route: 'Road or route' },
      },
      {
        name: 'get_elevation',
        description: 'Returns the elevation above sea level of points.',
        parameters: { points: 'Coordinates' },
      },
    ],
  },
  {
    name: 'travel',
    description: 'Flights, hotels and rental cars',
    tools: [
      {
        name: 'search_flights',
        description: 'Searches flights between airports with fares.',
        parameters: { origin: 'Airport', destination: 'Airport', date: 'Departure', return_date: 'Return', cabin: 'Cabin' },
      },
      {
        name: 'get_flight_status',
        description: 'Returns gate, delay and estimated arrival of a flight.',
        parameters: { flight_number: 'For example LH400', date: 'Date' },
      },
      {
        name: 'check_in',
        description: 'Checks a passenger in for a flight and returns the boarding pass.',
        parameters: { booking_reference: 'Booking', last_name: 'Passenger' },
      },
      {
        name: 'search_hotels',
        description: 'Searches hotels with available rooms for given dates.',
        parameters: { city: 'City', check_in: 'Arrival', check_out: 'Departure', guests: 'Number of guests' },
      },
      {
        name: 'book_hotel',
        description: 'Books a hotel room and returns the confirmation.',
        parameters: { hotel_id: 'Hotel', room_id: 'Room', guests: 'Guests' },
      },
      {
        name: 'cancel_booking',
        description: 'Cancels a flight, hotel or car booking and shows the cancellation fee.',
        parameters: { booking_reference: 'Booking' },
      },
      {
        name: 'search_rental_cars',
        description: 'Searches rental cars by pickup place and dates.',
        parameters: { pickup: 'Place', from: 'From', to: 'To' },
      },
    ],
  },
]
