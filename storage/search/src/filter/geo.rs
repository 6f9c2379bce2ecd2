//! Places: which shape on the globe holds a point.
//!
//! Shapes are checked when they are made, so that testing a point cannot fail.
//! Boxes and polygons do not cross the antimeridian.

/// Mean radius of the Earth in metres, as the haversine formula takes it.
const EARTH_RADIUS_M: f64 = 6_371_008.8;

/// A shape on the globe, in degrees.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Everything within a distance of a point.
    Radius {
        /// Latitude of the centre.
        lat: f64,
        /// Longitude of the centre.
        lon: f64,
        /// Distance in metres along the surface, inclusive.
        radius_m: f64,
    },
    /// Everything between two latitudes and two longitudes, inclusive.
    Bounds {
        /// Southern edge.
        min_lat: f64,
        /// Western edge.
        min_lon: f64,
        /// Northern edge.
        max_lat: f64,
        /// Eastern edge.
        max_lon: f64,
    },
    /// Everything inside a closed line, as `(latitude, longitude)` vertices.
    Polygon(Vec<(f64, f64)>),
}

impl Shape {
    /// Whether the shape holds a point.
    pub fn holds(&self, lat: f64, lon: f64) -> bool {
        match self {
            Self::Radius {
                lat: centre_lat,
                lon: centre_lon,
                radius_m,
            } => distance_m((*centre_lat, *centre_lon), (lat, lon)) <= *radius_m,
            Self::Bounds {
                min_lat,
                min_lon,
                max_lat,
                max_lon,
            } => (*min_lat..=*max_lat).contains(&lat) && (*min_lon..=*max_lon).contains(&lon),
            Self::Polygon(vertices) => inside(vertices, lat, lon),
        }
    }
}

/// Great-circle distance in metres, by the haversine formula.
fn distance_m(from: (f64, f64), to: (f64, f64)) -> f64 {
    let (lat_a, lat_b) = (from.0.to_radians(), to.0.to_radians());
    let half_lat = ((lat_b - lat_a) / 2.0).sin();
    let half_lon = ((to.1 - from.1).to_radians() / 2.0).sin();
    let h = half_lat * half_lat + lat_a.cos() * lat_b.cos() * half_lon * half_lon;
    2.0 * EARTH_RADIUS_M * h.clamp(0.0, 1.0).sqrt().asin()
}

/// The even-odd rule: a ray from the point crosses the line an odd number of times.
fn inside(vertices: &[(f64, f64)], lat: f64, lon: f64) -> bool {
    let ends = vertices.iter().cycle().skip(1);
    vertices
        .iter()
        .zip(ends)
        .filter(|((lat_a, lon_a), (lat_b, lon_b))| {
            (*lat_a > lat) != (*lat_b > lat)
                && lon < (lon_b - lon_a) * (lat - lat_a) / (lat_b - lat_a) + lon_a
        })
        .count()
        % 2
        == 1
}
